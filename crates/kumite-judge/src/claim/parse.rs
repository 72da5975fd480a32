//! The claim parser: recursive descent over words, numbers and symbols.

use kumite_record::AxisValue;

use super::units::{known_units, unit};
use super::{
    Arithmetic, Claim, ClaimError, ClaimPart, Comparison, Dimension, Every, Expr, Fold, MetricOf, Name,
    Number, Op, Test,
};

/// The deepest nesting of a claim. No reader could follow more, and the stack must hold it.
const MAX_DEPTH: usize = 32;
/// The largest number of operations in one comparison. The tree of a sum is as deep as the sum has terms.
const MAX_OPERATIONS: usize = 200;
/// The longest claim, in characters.
const MAX_LENGTH: usize = 20_000;

pub(super) fn parse(text: &str) -> Result<Claim, ClaimError> {
    let mut parser = Parser::new(text)?;
    let claim = parser.claim()?;
    match parser.peek() {
        TokenKind::End => Ok(claim),
        _ => Err(parser.expected("'and' or the end")),
    }
}

/// Parses a text as one expression, which is the form of a derived metric. An error if the text is no expression, is
/// too long or nested too deeply, has a number that is too large, or divides by numbers that come to 0.
pub fn parse_expression(text: &str) -> Result<Expr, ClaimError> {
    let mut parser = Parser::new(text)?;
    let expr = parser.expr()?;
    match parser.peek() {
        TokenKind::End => Ok(expr),
        _ => Err(parser.expected("the end")),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum TokenKind {
    Word(String),
    Parameter(String),
    /// A text in quotes, without them.
    Quoted(String),
    /// A number and the unit that follows it; the unit is empty if none does.
    Number(Number, String),
    Symbol(&'static str),
    End,
}

struct Token {
    kind: TokenKind,
    /// The place of the token in the text, in characters from 1.
    column: usize,
    /// The byte offset of the token in the text.
    start: usize,
    end: usize,
}

/// The symbols of the grammar, longest first, so that `<=` is not read as `<`.
const SYMBOLS: [&str; 15] = ["<=", ">=", "≤", "≥", "<", ">", "=", "+", "-", "*", "/", "(", ")", ",", ":"];

fn tokens(text: &str) -> Result<Vec<Token>, ClaimError> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        let column = text[..start].chars().count() + 1;
        if first.is_whitespace() {
            start += first.len_utf8();
            continue;
        }
        let (kind, length) = if first.is_ascii_digit() {
            number(rest, column)?
        } else if let Some(name) = rest.strip_prefix('$') {
            let length = word_length(name);
            if length == 0 {
                return Err(ClaimError { column, what: "expected a name after '$'".into() });
            }
            (TokenKind::Parameter(name[..length].to_owned()), length + 1)
        } else if first == '"' || first == '\'' {
            let Some(length) = rest[1..].find(first) else {
                return Err(ClaimError {
                    column,
                    what: format!("this {first} has no other that ends the text"),
                });
            };
            (TokenKind::Quoted(rest[1..=length].to_owned()), length + 2)
        } else if word_length(rest) > 0 {
            let length = word_length(rest);
            (TokenKind::Word(rest[..length].to_owned()), length)
        } else if rest.starts_with("==") {
            return Err(ClaimError { column, what: "write a single '=' for equal".to_owned() });
        } else if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
            let plain = match symbol {
                "≤" => "<=",
                "≥" => ">=",
                other => other,
            };
            (TokenKind::Symbol(plain), symbol.len())
        } else if first == '!' {
            let what = "unexpected '!': there is no 'not equal', say which side is the larger";
            return Err(ClaimError { column, what: what.to_owned() });
        } else {
            return Err(ClaimError { column, what: format!("unexpected '{first}'") });
        };
        tokens.push(Token { kind, column, start, end: start + length });
        start += length;
    }
    let column = text.chars().count() + 1;
    tokens.push(Token { kind: TokenKind::End, column, start: text.len(), end: text.len() });
    Ok(tokens)
}

/// Reads a number and the unit that follows it, with or without a space: `5%`, `1 s`, `1,000 /s`, `1e3`. Returns the
/// token, and the length of both in bytes. An error if the unit is unknown, or the number is none or too large.
fn number(rest: &str, column: usize) -> Result<(TokenKind, usize), ClaimError> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit() || **b == b'_').count();
    let mut length = digits(0);
    while length > 0 && bytes.get(length) == Some(&b',') && digits(length + 1) == 3 {
        length += 4;
    }
    if bytes.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    let exponent = &rest[length..];
    let sign = exponent.len() - exponent.trim_start_matches(['e', 'E']).trim_start_matches(['+', '-']).len();
    if exponent.starts_with(['e', 'E']) && digits(length + sign) > 0 {
        length += sign + digits(length + sign);
    }
    let digits = &rest[..length];
    let wrong = |what: String| Err(ClaimError { column, what });
    let Ok(value) = digits.replace(['_', ','], "").parse::<f64>() else {
        return wrong(format!("'{digits}' is not a number"));
    };
    let after = rest[length..].trim_start();
    let spaces = rest[length..].len() - after.len();
    let symbol = &after[..unit_length(after)];
    let number = |factor: f64, dimension| Number {
        // Percentages are divided, for a hundredth is no binary fraction.
        value: if symbol == "%" { value / 100.0 } else { value * factor },
        dimension,
        digits: digits.to_owned(),
        column,
    };
    let known = unit(symbol).filter(|_| !symbol.is_empty());
    let (factor, dimension) = known.unwrap_or((1.0, Dimension::ANY));
    if !number(factor, dimension).value.is_finite() {
        return wrong(format!("{digits} is too large for a number"));
    }
    match known {
        Some((factor, dimension)) => Ok((
            TokenKind::Number(number(factor, dimension), symbol.to_owned()),
            length + spaces + symbol.len(),
        )),
        None if symbol.starts_with(|c: char| c.is_ascii_digit())
            || symbol.is_empty()
            || AFTER_NUMBERS.contains(&symbol) =>
        {
            Ok((TokenKind::Number(number(1.0, Dimension::ANY), String::new()), length))
        }
        None => wrong(format!("unknown unit '{symbol}' after {digits}; there are: {}", known_units())),
    }
}

/// Words that may follow a number and are no unit.
const AFTER_NUMBERS: [&str; 4] = ["and", "of", "over", "within"];

/// The length in bytes of a unit at the beginning of a text: `%`, a word, `/s`, or one of the first two and `/s`.
fn unit_length(text: &str) -> usize {
    let word = if text.starts_with('%') { 1 } else { word_length(text) };
    let per_second = text[word..].strip_prefix("/s");
    match per_second.filter(|rest| word_length(rest) == 0 && !rest.starts_with('(')) {
        Some(_) => word + 2,
        None => word,
    }
}

/// The length in bytes of a word at the beginning of a text: letters, digits and `_`, with single hyphens inside.
fn word_length(text: &str) -> usize {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut length = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let hyphen = c == '-' && at > 0 && chars.peek().is_some_and(|(_, next)| is_letter(*next));
        if !is_letter(c) && !hyphen {
            break;
        }
        length = at + c.len_utf8();
    }
    length
}

struct Parser<'a> {
    tokens: Vec<Token>,
    next: usize,
    text: &'a str,
    depth: usize,
    /// The number of operations in the comparison that is being read.
    operations: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Parser<'a>, ClaimError> {
        let length = text.chars().count();
        if length > MAX_LENGTH {
            let what = format!(
                "it has {length} characters, and {MAX_LENGTH} are the most: make several claims of it, or a metric of what it adds"
            );
            return Err(ClaimError { column: MAX_LENGTH, what });
        }
        Ok(Parser { tokens: tokens(text)?, next: 0, text, depth: 0, operations: 0 })
    }

    fn claim(&mut self) -> Result<Claim, ClaimError> {
        self.deeper()?;
        let mut parts = vec![self.part()?];
        while self.take_word("and") {
            parts.push(self.part()?);
        }
        self.depth -= 1;
        Ok(Claim { parts })
    }

    fn part(&mut self) -> Result<ClaimPart, ClaimError> {
        if !self.take_word("every") {
            return self.comparison().map(ClaimPart::Comparison);
        }
        let every = if self.take_word("contender") {
            let mut except = Vec::new();
            if self.take_word("except") {
                except.push(self.name("a contender")?);
                while self.take(",") {
                    except.push(self.name("a contender")?);
                }
            }
            Every::Contender { except }
        } else if let TokenKind::Parameter(axis) = self.peek().clone() {
            let axis = Name { text: axis, column: self.column() };
            self.next += 1;
            let mut bounds = Vec::new();
            while let Some(op) = self.op() {
                bounds.push((op, self.number("a number")?));
                if !self.take_word("and") {
                    break;
                }
            }
            Every::Axis { axis, bounds }
        } else {
            return Err(self.expected("'contender' or an axis such as $connections"));
        };
        self.expect(":")?;
        Ok(ClaimPart::Every(every, self.claim()?))
    }

    fn comparison(&mut self) -> Result<Comparison, ClaimError> {
        self.operations = 0;
        let start = self.tokens[self.next].start;
        let mut column = self.column();
        let test = if self.take_word("disqualified") {
            self.expect("(")?;
            let name = self.name("a contender")?;
            self.expect(")")?;
            Test::Disqualified(name)
        } else {
            let left = self.expr()?;
            column = self.column();
            if self.take_word("within") {
                let share = match self.peek() {
                    TokenKind::Number(Number { value, .. }, unit) if unit == "%" => *value,
                    _ => return Err(self.expected("a percentage such as 5%")),
                };
                self.next += 1;
                if !self.take_word("of") {
                    return Err(self.expected("'of'"));
                }
                Test::Within(left, share, self.expr()?)
            } else if let Some(op) = self.op() {
                Test::Compare(left, op, self.expr()?)
            } else {
                return Err(self.expected("a comparison: <, <=, >, >=, = or 'within 5% of'"));
            }
        };
        let end = self.tokens[self.next - 1].end;
        Ok(Comparison { text: self.text[start..end].to_owned(), test, column })
    }

    fn binary(
        &mut self,
        left: Expr,
        operator: Arithmetic,
        column: usize,
        right: Expr,
    ) -> Result<Expr, ClaimError> {
        let wrong = |what: String| Err(ClaimError { column, what });
        self.operations += 1;
        if self.operations > MAX_OPERATIONS {
            return wrong(format!(
                "a comparison has {MAX_OPERATIONS} operations at most: add up in metrics of [metrics], or make several claims"
            ));
        }
        if operator == Arithmetic::Divide && constant(&right) == Some(0.0) {
            return wrong("it divides by 0".to_owned());
        }
        let whole = Expr::Binary(Box::new(left), operator, column, Box::new(right));
        match constant(&whole) {
            Some(value) if !value.is_finite() => {
                wrong("what it comes to is too large for a number".to_owned())
            }
            _ => Ok(whole),
        }
    }

    fn expr(&mut self) -> Result<Expr, ClaimError> {
        self.deeper()?;
        let mut left = self.term()?;
        loop {
            let column = self.column();
            let operator = if self.take("+") {
                Arithmetic::Add
            } else if self.take("-") {
                Arithmetic::Subtract
            } else {
                self.depth -= 1;
                return Ok(left);
            };
            let right = self.term()?;
            left = self.binary(left, operator, column, right)?;
        }
    }

    fn term(&mut self) -> Result<Expr, ClaimError> {
        let mut left = self.factor()?;
        loop {
            let column = self.column();
            let operator = if self.take("*") {
                Arithmetic::Multiply
            } else if self.take("/") {
                Arithmetic::Divide
            } else {
                return Ok(left);
            };
            let right = self.factor()?;
            left = self.binary(left, operator, column, right)?;
        }
    }

    fn factor(&mut self) -> Result<Expr, ClaimError> {
        let column = self.column();
        match self.peek().clone() {
            TokenKind::Number(number, _) => {
                self.next += 1;
                Ok(Expr::Number(number))
            }
            TokenKind::Parameter(name) => {
                self.next += 1;
                Ok(Expr::Parameter(Name { text: name, column }))
            }
            TokenKind::Symbol("(") => {
                self.next += 1;
                let inner = self.expr()?;
                self.expect(")")?;
                Ok(inner)
            }
            TokenKind::Word(word) => {
                self.next += 1;
                if !self.take("(") {
                    return Ok(Expr::Own(Name { text: word, column }));
                }
                let Some(fold) = Fold::named(&word) else {
                    return self.metric(Name { text: word, column });
                };
                let inner = self.expr()?;
                if !self.take_word("over") {
                    return Err(self.expected("'over' and an axis"));
                }
                let axis = self.name("an axis")?;
                self.expect(")")?;
                Ok(Expr::Fold(fold, Box::new(inner), axis))
            }
            _ => Err(self.expected("a metric, a number or a $parameter")),
        }
    }

    fn metric(&mut self, name: Name) -> Result<Expr, ClaimError> {
        let contender = self.name("a contender")?;
        let mut at = Vec::new();
        if self.take_word("at") {
            loop {
                let axis = self.name("an axis")?;
                self.expect("=")?;
                at.push((axis, self.value()?));
                if !self.take(",") {
                    break;
                }
            }
        }
        self.expect(")")?;
        Ok(Expr::Metric(MetricOf { name, contender, at }))
    }

    fn value(&mut self) -> Result<AxisValue, ClaimError> {
        let value = match self.peek().clone() {
            TokenKind::Number(Number { value, .. }, unit) if unit.is_empty() => {
                if value.fract() == 0.0 && value.abs() < 2f64.powi(53) {
                    AxisValue::Int(value as i64)
                } else {
                    AxisValue::Float(value)
                }
            }
            TokenKind::Word(word) => word.parse().map_or(AxisValue::Text(word), AxisValue::Bool),
            TokenKind::Quoted(text) => AxisValue::Text(text),
            _ => return Err(self.expected("a value of the axis (a text that is no word stands in quotes)")),
        };
        self.next += 1;
        Ok(value)
    }

    fn number(&mut self, what: &str) -> Result<Number, ClaimError> {
        match self.peek().clone() {
            TokenKind::Number(number, _) => {
                self.next += 1;
                Ok(number)
            }
            _ => Err(self.expected(what)),
        }
    }

    fn op(&mut self) -> Option<Op> {
        let op = match self.peek() {
            TokenKind::Symbol("<") => Op::Less,
            TokenKind::Symbol("<=") => Op::LessOrEqual,
            TokenKind::Symbol(">") => Op::Greater,
            TokenKind::Symbol(">=") => Op::GreaterOrEqual,
            TokenKind::Symbol("=") => Op::Equal,
            _ => return None,
        };
        self.next += 1;
        Some(op)
    }

    fn name(&mut self, what: &str) -> Result<Name, ClaimError> {
        let column = self.column();
        match self.peek().clone() {
            TokenKind::Word(text) => {
                self.next += 1;
                Ok(Name { text, column })
            }
            _ => Err(self.expected(what)),
        }
    }

    fn peek(&self) -> &TokenKind {
        &self.tokens[self.next].kind
    }

    fn column(&self) -> usize {
        self.tokens[self.next].column
    }

    fn take(&mut self, symbol: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Symbol(found) if *found == symbol);
        self.next += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Word(found) if found == word);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), ClaimError> {
        if self.take(symbol) { Ok(()) } else { Err(self.expected(&format!("'{symbol}'"))) }
    }

    fn deeper(&mut self) -> Result<(), ClaimError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ClaimError { column: self.column(), what: "nested too deeply".into() });
        }
        Ok(())
    }

    fn expected(&self, what: &str) -> ClaimError {
        let token = &self.tokens[self.next];
        let found = match token.kind {
            TokenKind::End => "the end".to_owned(),
            _ => format!("'{}'", &self.text[token.start..token.end]),
        };
        ClaimError { column: token.column, what: format!("expected {what}, found {found}") }
    }
}

/// The value of an expression of numbers alone. None if there is a name in it.
fn constant(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Number(number) => Some(number.value),
        Expr::Binary(left, operator, _, right) => Some(operator.apply(constant(left)?, constant(right)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_in_quotes_is_a_text_whatever_it_has() {
        for (value, expected) in [
            ("\"small\"", "small"),
            ("\"/a b?x=1,2)\"", "/a b?x=1,2)"),
            ("'say \"é\"'", "say \"é\""),
            ("\"\"", ""),
            ("\"1\"", "1"),
            ("\"true\"", "true"),
        ] {
            let claim = parse(&format!("x_us(a at p={value}, n=1) < 1 ms")).unwrap();
            let ClaimPart::Comparison(Comparison { test: Test::Compare(Expr::Metric(metric), ..), .. }) =
                &claim.parts[0]
            else {
                panic!("{claim:?}")
            };
            let found: Vec<_> = metric.at.iter().map(|(_, value)| value.clone()).collect();
            assert_eq!(found, [AxisValue::Text(expected.to_owned()), AxisValue::Int(1)]);
        }
    }

    #[test]
    fn an_expression_is_parsed_by_precedence_with_units_and_hyphens() {
        let parsed = parse("1 + 2 * 3 ms < x_us(a-b at n=1)").unwrap();
        let ClaimPart::Comparison(Comparison { test: Test::Compare(left, Op::Less, right), .. }) =
            &parsed.parts[0]
        else {
            panic!("{parsed:?}");
        };
        let value = |expr: &Expr| match expr {
            Expr::Number(number) => number.value,
            other => panic!("{other:?}"),
        };
        let Expr::Binary(one, Arithmetic::Add, 3, product) = left else { panic!("{left:?}") };
        assert_eq!(value(one), 1.0);
        let Expr::Binary(two, Arithmetic::Multiply, 7, three) = &**product else { panic!("{product:?}") };
        assert_eq!((value(two), value(three)), (2.0, 0.003));
        let Expr::Metric(metric) = right else { panic!("{right:?}") };
        assert_eq!((metric.contender.text.as_str(), &metric.at[0].1), ("a-b", &AxisValue::Int(1)));
    }

    #[test]
    fn a_comparison_keeps_its_own_words() {
        let parsed = parse("every $n > 1: a(x)  <  b(y) and disqualified(z)").unwrap();
        let ClaimPart::Every(_, inner) = &parsed.parts[0] else { panic!("{parsed:?}") };
        let texts: Vec<_> = inner
            .parts
            .iter()
            .map(|part| match part {
                ClaimPart::Comparison(comparison) => comparison.text.as_str(),
                ClaimPart::Every(..) => "every",
            })
            .collect();
        assert_eq!(texts, ["a(x)  <  b(y)", "disqualified(z)"]);
    }

    #[test]
    fn text_that_is_no_claim_is_refused_with_its_column() {
        let cases = [
            ("", 1, "expected a metric, a number or a $parameter, found the end"),
            ("a(b)", 5, "expected a comparison: <, <=, >, >=, = or 'within 5% of', found the end"),
            (
                "a(b) < 5 parsecs",
                8,
                "unknown unit 'parsecs' after 5; there are: %, ns, us, ms, s, min, B, kB, MB, GB, KiB, MiB, GiB, cores, /s",
            ),
            ("a(b) < 5 4", 10, "expected 'and' or the end, found '4'"),
            ("a(b) < é?", 9, "unexpected '?'"),
            ("a(b) == 1", 6, "write a single '=' for equal"),
            ("a(b) != 1", 6, "unexpected '!': there is no 'not equal', say which side is the larger"),
            ("a(b at) < 1", 7, "expected an axis, found ')'"),
            (
                "a(b at c=1 s) < 1",
                10,
                "expected a value of the axis (a text that is no word stands in quotes), found '1 s'",
            ),
            ("every dog: a(b) < 1", 7, "expected 'contender' or an axis such as $connections, found 'dog'"),
            ("every $n and 3: a(b) < 1", 10, "expected ':', found 'and'"),
            ("a(b) within 5 of 3", 13, "expected a percentage such as 5%, found '5'"),
            ("min(a(b)) < 1", 9, "expected 'over' and an axis, found ')'"),
            ("$ < 1", 1, "expected a name after '$'"),
            ("a(b) < 1e400 /s", 8, "1e400 is too large for a number"),
            ("a(b) < 1e308 GB", 8, "1e308 is too large for a number"),
            ("a(b) > 1 / 0", 10, "it divides by 0"),
            ("a(b) / 0 s > 1", 6, "it divides by 0"),
            ("a(b) / (2 - 1 - 1) > 1", 6, "it divides by 0"),
            ("a(b) > 1e308 * 10", 14, "what it comes to is too large for a number"),
        ];
        for (text, column, what) in cases {
            assert_eq!(parse(text), Err(ClaimError { column, what: what.into() }), "{text}");
        }
        let deep = format!("{}1{} < 2", "(".repeat(10_000), ")".repeat(10_000));
        assert_eq!(
            parse(&deep).unwrap_err().what,
            "it has 20005 characters, and 20000 are the most: make several claims of it, or a metric of what it adds"
        );
        let deep = format!("{}1{} < 2", "(".repeat(1000), ")".repeat(1000));
        assert_eq!(parse(&deep).unwrap_err().what, "nested too deeply");
        let nested = format!("{}a(b) < 2", "every $n: ".repeat(1000));
        assert_eq!(parse(&nested).unwrap_err().what, "nested too deeply");
    }

    #[test]
    fn what_no_reader_could_follow_is_refused_and_what_is_long_is_read() {
        let most =
            "a comparison has 200 operations at most: add up in metrics of [metrics], or make several claims";
        for operator in [" + ", " - ", " * ", " / "] {
            let sum = |terms: usize| vec!["a(b)"; terms].join(operator) + " < 1";
            assert!(parse(&sum(201)).is_ok());
            assert_eq!(parse(&sum(202)).unwrap_err().what, most);
            assert_eq!(parse_expression(&vec!["a"; 1000].join(operator)).unwrap_err().what, most);
        }
        let long = vec!["a(b)"; 20_000].join(" + ") + " < 1";
        assert_eq!(
            parse(&long).unwrap_err().what,
            "it has 140001 characters, and 20000 are the most: make several claims of it, or a metric of what it adds"
        );
        let both = vec!["a(b)"; 150].join("+");
        assert_eq!(parse(&format!("{both} < {both}")).unwrap_err().what, most, "both sides are one");
        let parts = vec!["a(b) + a(c) < 1"; 1000].join(" and ");
        assert_eq!(parse(&parts).unwrap().parts.len(), 1000);
    }
}
