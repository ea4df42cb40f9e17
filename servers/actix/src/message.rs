//! The messages of a client: parses one text and checks it. It does not depend on boards or connections.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

const MAX_ID_CHARACTERS: usize = 64;

#[derive(Debug, PartialEq)]
pub struct Message {
    pub kind: Kind,
    pub board_id: String,
    pub user_id: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Join,
    Draw,
    Leave,
}

/// The reason that is sent to the client.
#[derive(Debug, PartialEq)]
pub struct BadMessage(pub Cow<'static, str>);

/// The known fields with any value: which values are valid depends on the type of the message.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    board_id: Option<&'a RawValue>,
    #[serde(borrow)]
    user_id: Option<&'a RawValue>,
    #[serde(borrow)]
    seq: Option<&'a RawValue>,
    #[serde(borrow)]
    sent_at: Option<&'a RawValue>,
    #[serde(borrow)]
    stroke: Option<&'a RawValue>,
}

/// Fields beyond the known ones are allowed.
pub fn parse_message(text: &str) -> Result<Message, BadMessage> {
    let fields = parse_fields(text)?;
    let kind = read::<String>(fields.kind).and_then(|name| Kind::named(&name));
    let kind = kind.ok_or("type must be join, draw or leave")?;
    let board_id = read_id(fields.board_id).ok_or("boardId must be a string of 1 to 64 characters")?;
    let user_id = read_id(fields.user_id).ok_or("userId must be a string of 1 to 64 characters")?;
    if kind == Kind::Draw {
        read::<u64>(fields.seq).ok_or("seq must be an integer of at least 0")?;
        read::<u64>(fields.sent_at).ok_or("sentAt must be an integer of at least 0")?;
        let stroke = read::<Vec<[f64; 2]>>(fields.stroke).filter(|points| !points.is_empty());
        stroke.ok_or("stroke must be a non-empty array of [number, number]")?;
    }
    Ok(Message {
        kind,
        board_id,
        user_id,
    })
}

fn parse_fields(text: &str) -> Result<Fields<'_>, BadMessage> {
    match serde_json::from_str(text) {
        // serde also accepts an array of six for the fields.
        Ok(_) if !text.trim_start().starts_with('{') => Err("a message must be a JSON object".into()),
        Ok(fields) => Ok(fields),
        Err(error) if error.is_data() => Err(BadMessage(format!("a message must be a JSON object: {error}").into())),
        Err(_) => Err("a message must be JSON".into()),
    }
}

fn read<'a, T: Deserialize<'a>>(value: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

fn read_id(value: Option<&RawValue>) -> Option<String> {
    read::<String>(value).filter(|id| (1..=MAX_ID_CHARACTERS).contains(&id.chars().count()))
}

impl Kind {
    fn named(name: &str) -> Option<Self> {
        [Self::Join, Self::Draw, Self::Leave]
            .into_iter()
            .find(|kind| kind.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::Draw => "draw",
            Self::Leave => "leave",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl From<&'static str> for BadMessage {
    fn from(reason: &'static str) -> Self {
        Self(reason.into())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{BadMessage, Kind, Message, parse_message};

    fn join() -> Value {
        json!({"type": "join", "boardId": "b-17", "userId": "u-42"})
    }

    fn draw() -> Value {
        with(
            join(),
            json!({"type": "draw", "seq": 0, "sentAt": 1764000000123456_u64, "stroke": [[1, 2.5]]}),
        )
    }

    fn with(mut message: Value, changes: Value) -> Value {
        let Value::Object(changes) = changes else {
            panic!("changes are an object")
        };
        message.as_object_mut().unwrap().extend(changes);
        message
    }

    fn reason(text: &str) -> String {
        let BadMessage(reason) = parse_message(text).expect_err(text);
        reason.into_owned()
    }

    #[test]
    fn good_messages_are_accepted() {
        let long = "\u{1f600}".repeat(64);
        for (kind, board_id, message) in [
            (Kind::Join, "b-17", join()),
            (Kind::Draw, "b-17", draw()),
            (Kind::Leave, "b-17", with(join(), json!({"type": "leave"}))),
            (Kind::Draw, "b-17", with(draw(), json!({"colour": "red", "SEQ": "7"}))),
            (
                Kind::Join,
                "b-17",
                with(join(), json!({"stroke": "of luck", "seq": null})),
            ),
            (Kind::Join, long.as_str(), with(join(), json!({"boardId": long}))),
        ] {
            let expected = Message {
                kind,
                board_id: board_id.into(),
                user_id: "u-42".into(),
            };
            assert_eq!(parse_message(&message.to_string()), Ok(expected), "{message}");
        }
    }

    #[test]
    fn escapes_are_understood() {
        let text = draw()
            .to_string()
            .replace("draw", r"dr\u0061w")
            .replace("b-17", r"b\u002d17");
        let expected = Message {
            kind: Kind::Draw,
            board_id: "b-17".into(),
            user_id: "u-42".into(),
        };
        assert_eq!(parse_message(&text), Ok(expected));
    }

    #[test]
    fn bad_messages_are_refused_with_a_reason() {
        for (message, expected) in [
            (json!([join()]), "a message must be a JSON object"),
            (
                json!(["join", "b", "u", 0, 0, [[1, 2]]]),
                "a message must be a JSON object",
            ),
            (json!(null), "a message must be a JSON object"),
            (json!({"boardId": "b-17", "userId": "u-42"}), "type must be"),
            (with(join(), json!({"type": "erase"})), "type must be"),
            (with(join(), json!({"type": {"join": null}})), "type must be"),
            (with(join(), json!({"boardId": ""})), "boardId must be"),
            (with(join(), json!({"userId": "u".repeat(65)})), "userId must be"),
            (with(join(), json!({"userId": 42})), "userId must be"),
            (with(draw(), json!({"seq": -1})), "seq must be"),
            (with(draw(), json!({"seq": 0.5})), "seq must be"),
            (with(draw(), json!({"seq": true})), "seq must be"),
            (with(draw(), json!({"seq": null})), "seq must be"),
            (with(draw(), json!({"sentAt": "1"})), "sentAt must be"),
            (with(draw(), json!({"stroke": null})), "stroke must be"),
            (with(draw(), json!({"stroke": []})), "stroke must be"),
            (with(draw(), json!({"stroke": [1, 2]})), "stroke must be"),
            (with(draw(), json!({"stroke": [[1]]})), "stroke must be"),
            (with(draw(), json!({"stroke": [[1, 2, 3]]})), "stroke must be"),
            (with(draw(), json!({"stroke": [[1, "2"]]})), "stroke must be"),
            (with(draw(), json!({"stroke": [[null, 2]]})), "stroke must be"),
            (with(draw(), json!({"stroke": [[1, true]]})), "stroke must be"),
        ] {
            let reason = reason(&message.to_string());
            assert!(reason.starts_with(expected), "{message}: {reason}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let good = draw().to_string();
        for text in [
            String::new(),
            good[..good.len() - 1].to_owned(),
            format!("{good}x"),
            good.replace("2.5", "NaN"),
            good.replace("2.5", "02.5"),
            good.replace("\"draw\"", "\"draw\",\"note\":\"\u{1}\""),
        ] {
            assert_eq!(reason(&text), "a message must be JSON", "{text}");
        }
    }

    #[test]
    fn a_coordinate_beyond_all_numbers_is_refused() {
        assert!(reason(&draw().to_string().replace("2.5", "1e999")).starts_with("stroke must be"));
    }
}
