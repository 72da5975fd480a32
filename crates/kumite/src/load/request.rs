//! The flags for the request that a server gets.

use std::path::{Path, PathBuf};

use kumite_load::Request;

use crate::duration;
use crate::exit::Failure;
use crate::output;

#[derive(clap::Args)]
#[group(skip)]
pub struct Args {
    /// Request method [default: GET, or POST if there is a body]
    #[arg(short, long)]
    method: Option<String>,
    /// Request body
    #[arg(short = 'd', long, value_name = "TEXT", conflicts_with = "body_file")]
    body: Option<String>,
    /// File with the request body
    #[arg(short = 'D', long, value_name = "FILE")]
    body_file: Option<PathBuf>,
    /// Request header, e.g. -H 'accept: text/plain' (may be given several times)
    #[arg(short = 'H', value_name = "HEADER", value_parser = header)]
    headers: Vec<(String, String)>,
    /// Header content-type
    #[arg(short = 'T', long, value_name = "TYPE")]
    content_type: Option<String>,
    /// Header accept
    #[arg(short = 'A', long, value_name = "TYPE")]
    accept: Option<String>,
    /// Send the cookies that a connection was given back on that connection
    #[arg(long)]
    pub cookies: bool,
}

impl Args {
    pub fn request(&self) -> Result<Request, Failure> {
        let body = match (&self.body, &self.body_file) {
            (Some(text), _) => Some(text.clone().into_bytes()),
            (None, Some(file)) => {
                Some(std::fs::read(file).map_err(|error| unreadable("the body", file, &error))?)
            }
            (None, None) => None,
        };
        if let (Some(time), None) =
            (self.body.as_ref().filter(|body| duration::parse(body).is_ok()), &self.method)
        {
            return Err(Failure::Usage(format!(
                "-d is the body here: for a load of so long, -z {time}; for such a body, --method POST -d {time}"
            )));
        }
        let default_method = if body.is_some() { "POST" } else { "GET" };
        let named = [("accept", &self.accept), ("content-type", &self.content_type)];
        let named = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value.clone()?)));
        let request = Request {
            method: self.method.clone().unwrap_or_else(|| default_method.to_owned()),
            headers: named.chain(self.headers.iter().cloned()).collect(),
            body: body.unwrap_or_default(),
        };
        for doubt in framing_doubts(&request) {
            output::note(&format!("! {doubt}"));
        }
        Ok(request)
    }

    /// The first of these flags that is given; `None` if none of them is.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--method", self.method.is_some()),
            ("--body", self.body.is_some()),
            ("--body-file", self.body_file.is_some()),
            ("-H", !self.headers.is_empty()),
            ("--content-type", self.content_type.is_some()),
            ("--accept", self.accept.is_some()),
            ("--cookies", self.cookies),
        ];
        given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }
}

/// Doubts about headers that say where the body ends, and are wrong. They are sent all the same, since they may be
/// what is to be tested.
fn framing_doubts(request: &Request) -> Vec<String> {
    let has = request.body.len();
    let doubt = |(name, value): &(String, String)| match name.to_ascii_lowercase().as_str() {
        "content-length" if value.parse() != Ok(has) => Some(format!(
            "{name}: {value} is sent as it is, and the body has {has} bytes: a server may wait for the rest"
        )),
        "transfer-encoding" => Some(format!(
            "{name}: {value} is sent as it is, and so is the body, which has to be framed so itself"
        )),
        _ => None,
    };
    request.headers.iter().filter_map(doubt).collect()
}

pub fn unreadable(what: &str, file: &Path, error: &std::io::Error) -> Failure {
    Failure::Usage(format!("cannot read {what} from {}: {error}", file.display()))
}

/// Parses a header, `name: value`. White space around the name and the value is left out. The error is a message for
/// clap.
pub fn header(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once(':').ok_or("expected 'name: value'")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}
