// Answers calls of pi's tool `edit`, one JSON object a line: `node pi.mjs DIRECTORY_OF_PACKAGES`.

import { createInterface } from "node:readline";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const packages = process.argv[2];
const entry = join(packages, "node_modules/@mariozechner/pi-coding-agent/dist/index.js");
const { createEditTool } = await import(pathToFileURL(entry));

async function answer({ cwd, arguments: { path, old_text, new_text, edits } }) {
    const tool = createEditTool(cwd);
    const wanted = edits ?? [{ old_text, new_text }];
    const texts = wanted.map((edit) => ({ oldText: edit.old_text, newText: edit.new_text }));
    const takesSeveral = "edits" in tool.parameters.properties;
    if (!takesSeveral && texts.length > 1) {
        return { is_error: true, text: "several edits are not supported" };
    }
    const input = takesSeveral ? { path, edits: texts } : { path, ...texts[0] };
    try {
        const result = await tool.execute("call", input);
        return { is_error: false, text: result.content.map((part) => part.text ?? "").join("\n") };
    } catch (error) {
        return { is_error: true, text: String(error.message) };
    }
}

for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
