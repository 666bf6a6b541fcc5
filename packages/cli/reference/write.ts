import { readFile, writeFile } from 'node:fs/promises'
import { declareCompletion } from '../completion/command.ts'
import { createProgram } from '../program.ts'
import { withReference } from './reference.ts'

// npm run cli:docs: updates the list of commands in docs/cli.md.

const path = new URL('../../../docs/cli.md', import.meta.url)
const program = createProgram({
  env: {},
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: new AbortController().signal,
})
declareCompletion(program)
await writeFile(path, withReference(await readFile(path, 'utf8'), program))
