//! `lbmc schema`: the JSON schema of case files.

use lbm_flows::case::json_schema;

/// Runs the command.
pub fn schema() {
    println!("{}", serde_json::to_string_pretty(&json_schema()).expect("plain data has a text"));
}
