//! Values as PostgreSQL's protocol has them.

use std::error::Error as StdError;

use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut};

use crate::sql::Value;

impl ToSql for Value {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match self {
            Self::Null => return Ok(IsNull::Yes),
            // Where a parameter stands beside a small number, the server takes it for one.
            Self::Integer(number) if *kind == Type::INT4 => return i32::try_from(*number)?.to_sql(kind, out),
            Self::Integer(number) => return number.to_sql(kind, out),
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
            Self::Blob(bytes) => out.extend_from_slice(bytes),
        }
        Ok(IsNull::No)
    }

    fn accepts(_kind: &Type) -> bool {
        true
    }

    tokio_postgres::types::to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(match *kind {
            Type::INT8 => Self::Integer(i64::from_sql(kind, raw)?),
            Type::INT4 => Self::Integer(i32::from_sql(kind, raw)?.into()),
            Type::BYTEA => Self::Blob(raw.to_vec()),
            _ => Self::Text(String::from_sql(kind, raw)?),
        })
    }

    fn from_sql_null(_kind: &Type) -> Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::INT4 | Type::BYTEA | Type::TEXT)
    }
}
