import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Command, Help } from 'commander'
import { operatorRules } from './conformance/operator-rules.ts'
import { robotRules } from './conformance/robot-rules.ts'
import type { Rule } from './conformance/rule.ts'
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
export const withReference = (page: string, program: Command): string =>
  withPart(page, BEGIN, END, reference(program))

/** Returns the page about conformance with the rules between its markers. @throws Error without the markers */
export function withRules(page: string): string {
  const lists = { robot: ruleTable(robotRules), operator: ruleTable(operatorRules) }
  return Object.entries(lists).reduce(
    (text, [subject, list]) =>
      withPart(
        text,
        `<!-- ${subject} rules: written by \`npm run cli:docs\` -->`,
        `<!-- end of ${subject} rules -->`,
        list,
      ),
    page,
  )
}

function withPart(page: string, begin: string, end: string, part: string): string {
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`the page has no ${begin} and ${end}`)
  return `${before}${begin}\n\n${part}\n${end}${after}`
}

function ruleTable<Bench>(rules: readonly Rule<Bench>[]): string {
  const rows = rules.map(
    ({ id, title, protects, duty, quick }) =>
      `| \`${id}\`${quick ? ' ●' : ''} | [${title}](${duty}) | ${protects} |\n`,
  )
  return `| Rule | Duty | Protects |\n|---|---|---|\n${rows.join('')}`
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

// npm run cli:docs: updates the list of commands in docs/cli.md, and the rules in docs/conformance.md.
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
  const rules = new URL('../../docs/conformance.md', import.meta.url)
  await writeFile(rules, withRules(await readFile(rules, 'utf8')))
}
