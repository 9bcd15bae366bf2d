// Starts `lbmc lsp`, and speaks to it of methods and cases.

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("lbmc").get("path");
  const documentSelector = ["lbm", "toml"].map((language) => ({ scheme: "file", language }));
  client = new LanguageClient("lbmc", "lbmc", { command, args: ["lsp"] }, { documentSelector });
  return client.start();
};

exports.deactivate = () => client?.stop();
