import { describe, expect, test } from 'vitest'
import { checkLiterals } from './check-literals.ts'
import { checkOutsidePaths, checkProduct, checkSyntax } from './check-product.ts'
import { checkTypeNames } from './check-type-names.ts'
import { Repository } from './repository.ts'

describe('literals', () => {
  test.each([
    'const a = { ...{ b }, c }',
    'const a = [...[b], c]',
    'call(...[b])',
    'const a = { b: [1, ...[2, 3]] }',
  ])('%s is refused', (text) => {
    expect(checkLiterals(Repository.of({ 'src/a.ts': text }))).toMatchObject([
      { line: 1, rule: 'no-fresh-spread' },
    ])
  })

  test.each(['const a = { ...b, c }', 'const a = [...b, ...c.map(d)]', 'const a = { ...(b ? { c } : {}) }'])(
    '%s passes',
    (text) => {
      expect(checkLiterals(Repository.of({ 'src/a.ts': text }))).toEqual([])
    },
  )
})

describe('type names', () => {
  const check = (a: string, b: string) =>
    checkTypeNames(Repository.of({ 'src/core/a.ts': a, 'packages/sdk/b.ts': b })).map(({ file }) => file)

  test.each(['export type Session = 1', 'export interface Session {}', 'export class Session {}'])(
    'are refused twice: %s',
    (text) => {
      expect(check(text, 'export type Session = 2')).toEqual(['packages/sdk/b.ts'])
    },
  )

  test('may be private twice, re-exported, and share the name of a value', () => {
    expect(check('export type Session = 1', 'type Session = 1')).toEqual([])
    expect(check('export type Session = 1', "export type { Session } from '../a.ts'")).toEqual([])
    expect(check('export const Session = 1; export type Session = 1', '')).toEqual([])
  })
})

describe('the product', () => {
  const rulesFor = (path: string, text: string) =>
    checkProduct(Repository.of({ [path]: text })).map(({ rule, line }) => `${rule}:${line}`)

  test('reads the environment in one place', () => {
    expect(rulesFor('hub/a.ts', '\nconst a = process.env.PORT')).toEqual(['one-environment-reader:2'])
    expect(rulesFor('src/app/config.ts', 'const a = process.env')).toEqual([])
    expect(rulesFor('hub/a.ts', '// process.env')).toEqual([])
  })

  test('has no long file', () => {
    expect(rulesFor('hub/a.ts', 'a()\n'.repeat(601))).toEqual(['max-lines:undefined'])
    expect(rulesFor('hub/a.ts', 'a()\n'.repeat(600))).toEqual([])
  })

  test('uses no global of Node in packages for browsers', () => {
    expect(rulesFor('packages/sdk/a.ts', 'Buffer.from(a)')).toEqual(['portable-packages:1'])
    expect(rulesFor('packages/protocol/a.ts', 'process.exit()')).toEqual(['portable-packages:1'])
    expect(rulesFor('packages/cli/a.ts', 'process.exit()')).toEqual([])
  })
})

describe('paths', () => {
  test('must not lead out of the repository', () => {
    const climbing = ['..', '..', 'other'].join('/')
    const absolute = ['', 'home', 'me'].join('/')
    const check = (text: string) =>
      checkOutsidePaths(Repository.of({ 'docs/a.md': text })).map(({ line, rule }) => `${rule}:${line}`)
    expect(check(`x\n[a](${climbing})`)).toEqual(['no-outside-path:2'])
    expect(check(absolute)).toEqual(['no-outside-path:1'])
    expect(check('[a](../README.md) /home/node')).toEqual([])
  })
})

test('a file that cannot be parsed is reported', () => {
  expect(checkSyntax(Repository.of({ 'src/a.ts': 'const = 1' }))).toMatchObject([
    { file: 'src/a.ts', rule: 'syntax' },
  ])
})
