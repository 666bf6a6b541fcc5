import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Command, Help } from 'commander'
import { createProgram } from './program.ts'

const BEGIN = '<!-- commands: written by `npm run cli:docs` -->'
const END = '<!-- end of commands -->'

/** Returns all commands of the program with their arguments and options, as Markdown. */
export function reference(program: Command): string {
  const help = program.createHelp()
  return program.commands
    .filter((command) => command.name() !== 'help')
    .flatMap((command) => leaves(command))
    .map((command) => section(command, help))
    .join('\n')
}

/** Returns the page with the reference between its two markers. @throws Error without the markers */
export function withReference(page: string, program: Command): string {
  const [before, rest] = page.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) throw new Error(`the page has no ${BEGIN} and ${END}`)
  return `${before}${BEGIN}\n\n${reference(program)}\n${END}${after}`
}

const leaves = (command: Command): Command[] =>
  command.commands.length === 0 ? [command] : command.commands.flatMap(leaves)

function section(command: Command, help: Help): string {
  const path: string[] = []
  for (let current: Command | null = command; current; current = current.parent) path.unshift(current.name())
  const usage = command.registeredArguments.map((argument) => help.argumentTerm(argument))
  const argumentRows = command.registeredArguments.map((argument, index) => {
    const shown = argument.required ? `<${usage[index]}>` : `[${usage[index]}]`
    return { shown, description: help.argumentDescription(argument) }
  })
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map((option) => ({ shown: help.optionTerm(option), description: help.optionDescription(option) }))
  const title = [...path, ...argumentRows.map(({ shown }) => shown)].join(' ')
  const rows = [...argumentRows, ...options].map(({ shown, description }) =>
    description ? `* \`${shown}\`: ${description}` : `* \`${shown}\``,
  )
  return `### \`${title}\`\n\n${sentence(command.description())}\n${rows.length > 0 ? `\n${rows.join('\n')}\n` : ''}`
}

const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

// npm run cli:docs: updates the list of commands in docs/cli.md.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = new URL('../../docs/cli.md', import.meta.url)
  const { stdin, stdout, stderr } = process
  const program = await createProgram({
    env: {},
    stdin,
    stdout,
    stderr,
    signal: new AbortController().signal,
  })
  await writeFile(path, withReference(await readFile(path, 'utf8'), program))
}
