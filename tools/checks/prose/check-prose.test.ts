import { describe, expect, test } from 'vitest'
import { Repository } from '../source/repository.ts'
import { checkProse } from './check-prose.ts'

const inCode = (text: string) =>
  checkProse(Repository.of({ 'src/a.ts': text })).map(({ line, rule }) => [line, rule])
const inDocument = (text: string) =>
  checkProse(Repository.of({ 'docs/a.md': text })).map(({ line, rule }) => [line, rule])

describe('banned terms', () => {
  test.each([
    ['// The robot is told to stop.', 1],
    ['const a = 1\n// Nobody drives it.', 2],
    ["throw new Error('Only whoever drives may stop it')", 1],
    ['log.info(`the relay deals out events`)', 1],
    ["test('somebody else cannot connect', () => {})", 1],
    ['// The first line is fine.\n// The second deals with it.', 2],
  ])('%s is refused', (text, line) => {
    expect(inCode(text)).toEqual([[line, 'banned-term']])
  })

  test.each([
    'const told = 1',
    "const key = 'told'",
    'sql`select told from facts where a = 1`',
    "import { a } from './nobody/told/a.ts'",
    '// biome-ignore lint: nobody reads this',
    '// The robot moves. The request is still running.',
  ])('%s passes', (text) => {
    expect(inCode(text)).toEqual([])
  })

  test('are found in paragraphs, lists and tables of documents, not in code', () => {
    expect(inDocument('# Title\n\nThe hub\ntells the robot.')).toEqual([[4, 'banned-term']])
    expect(inDocument('* Fine.\n* Nobody reads.')).toEqual([[2, 'banned-term']])
    expect(inDocument('| a | b |\n|---|---|\n| x | told |')).toEqual([[3, 'banned-term']])
    expect(inDocument('Use `told`.\n\n```\ntold\n```\n')).toEqual([])
  })
})

test('comments of the example of the settings are read, its settings are not', () => {
  const inSettings = (text: string) =>
    checkProse(Repository.of({ '.env.example': text })).map(({ line, rule }) => [line, rule])
  expect(inSettings('A=1\n\n# The limit,\n# told to robots.\nB=2\n')).toEqual([[4, 'banned-term']])
  expect(inSettings('# Whoever reads it.')).toContainEqual([1, 'relative-clause'])
  expect(inSettings('# --- The news ---\n# NAME=nobody\nTOLD=1\n')).toEqual([])
})

describe('relative clauses', () => {
  test('at the beginning of a sentence are refused', () => {
    expect(inCode('// What is refused is counted.')).toEqual([[1, 'relative-clause']])
    expect(inDocument('It stops. What waits is dropped.')).toContainEqual([1, 'relative-clause'])
  })

  test('pass in questions and inside of sentences', () => {
    expect(inCode('// What does a robot send? It sends what it measures.')).toEqual([])
  })
})

describe('doc comments of functions', () => {
  test.each([
    '/** The sessions of a robot. */\nfunction sessionsOf() {}',
    '/** Whether the robot drives. */\nexport const drives = () => true',
    'class A {\n  /** A new one. */\n  create() {}\n}',
    '/** Robots that are online. */\nexport async function online() {}',
  ])('%s is refused', (text) => {
    expect(inCode(text).map(([, rule]) => rule)).toEqual(['doc-comment-verb'])
  })

  test.each([
    '/** Returns the sessions of a robot. */\nexport function sessionsOf() {}',
    '/** Never throws. */\nconst close = () => {}',
    '/** The longest time that a robot may be silent. */\nconst SILENCE_MS = 1',
    '/** A robot. */\ninterface Robot {}',
    '/* The sessions. */\nfunction sessionsOf() {}',
  ])('%s passes', (text) => {
    expect(inCode(text)).toEqual([])
  })
})
