import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { EXIT } from '../../../packages/cli/lib/failure.ts'
import { createProgram } from '../../../packages/cli/program.ts'
import { reference, withReference, withRules } from '../../../packages/cli/reference.ts'
import { declaredProgram as program } from '../../support/cli/command-coverage.ts'

const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')

describe('docs/cli.md', () => {
  test('lists every command as the program describes it; `npm run cli:docs` updates it', () => {
    expect(page).toBe(withReference(page, program))
    expect(reference(program)).toContain('### `wheelhouse sessions rate <session> <stars>`')
  })

  test('lists exactly the exit codes', () => {
    const documented = [...page.matchAll(/^\| (\d+) \| `(\w+)` \|/gm)].map(([, code, name]) => [
      name,
      Number(code),
    ])
    expect(Object.fromEntries(documented)).toEqual(EXIT)
  })

  test('lists every variable that the help names', () => {
    let help = ''
    program.configureOutput({
      writeOut: (text) => {
        help += text
      },
    })
    program.outputHelp()
    const named = new Set(help.match(/\b(?:WHEELHOUSE|NODE)_[A-Z_]+\b/g))
    expect(named.size).toBeGreaterThan(4)
    for (const name of named) expect(page).toContain(`\`${name}`)
  })
})

test('docs/conformance.md lists every rule as the kit describes it; `npm run cli:docs` updates it', () => {
  const rules = readFileSync(new URL('../../../docs/conformance.md', import.meta.url), 'utf8')
  expect(rules).toBe(withRules(rules))
  expect(rules).toContain('| `deadman` ● | [Halts by itself')
})

test('the help describes the commands alike, whether their files are loaded or not', async () => {
  const { stdin, stdout, stderr } = process
  const terminal = { env: {}, stdin, stdout, stderr, signal: new AbortController().signal }
  expect((await createProgram(terminal, [])).helpInformation()).toBe(program.helpInformation())
})

test('a start loads only commander and a measure of text, so that the help is fast', () => {
  const loaded = new Set<string>()
  const load = (file: URL) => {
    if (loaded.has(file.href)) return
    loaded.add(file.href)
    const text = readFileSync(file, 'utf8')
    for (const [, from = ''] of text.matchAll(/^(?:import|export) (?!type )[^'`]*from '([^']+)'/gm)) {
      if (from.startsWith('.')) load(new URL(from, file))
      else loaded.add(from)
    }
  }
  load(new URL('../../../packages/cli/program.ts', import.meta.url))
  expect(loaded.size).toBeGreaterThan(5)
  expect([...loaded].filter((name) => !/^(file|node):/.test(name))).toEqual(['commander', 'string-width'])
})
