import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { announceCompletion } from '../cli/completion/command.ts'
import { EXIT } from '../cli/exit-codes.ts'
import { createProgram } from '../cli/program.ts'
import { reference, withReference } from '../cli/reference/reference.ts'

const page = readFileSync(new URL('../docs/cli.md', import.meta.url), 'utf8')
const program = () => {
  const { stdin, stdout, stderr } = process
  const made = createProgram({ env: {}, stdin, stdout, stderr, signal: new AbortController().signal })
  announceCompletion(made)
  return made
}

describe('docs/cli.md', () => {
  test('has every command as the program itself knows it; `npm run cli:docs` mends this', () => {
    expect(page).toBe(withReference(page, program()))
    expect(reference(program())).toContain('### `wheelhouse sessions rate <session> <stars>`')
  })

  test('has every exit code, and no other', () => {
    const told = [...page.matchAll(/^\| (\d+) \| `(\w+)` \|/gm)].map(([, code, name]) => [name, Number(code)])
    expect(Object.fromEntries(told)).toEqual(EXIT)
  })

  test('has every variable that the help names', () => {
    let help = ''
    program()
      .configureOutput({
        writeOut: (text) => {
          help += text
        },
      })
      .outputHelp()
    const named = new Set(help.match(/\b(?:WHEELHOUSE|NODE)_[A-Z_]+\b/g))
    expect(named.size).toBeGreaterThan(4)
    for (const name of named) expect(page).toContain(`\`${name}`)
  })
})
