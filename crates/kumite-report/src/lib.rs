//! A record in, bytes of terminal, HTML, Markdown or CSV out.
