import { describe, expect, test } from 'vitest'
import { Repository } from '../source/repository.ts'
import { checkFileNames } from './check-file-names.ts'
import { bannedPartOf, checkIdentifiers } from './check-identifiers.ts'
import { declaredNames, wordsOf } from './declared-names.ts'

const check = (text: string) => checkIdentifiers(Repository.of({ 'src/core/a.ts': text }), [])

describe('identifiers', () => {
  test('are split at capitals, underscores, hyphens and digits', () => {
    expect(wordsOf('robotLogID')).toEqual(['robot', 'log', 'id'])
    expect(wordsOf('HTTPServer_v2-start')).toEqual(['http', 'server', 'v2', 'start'])
  })

  test.each([
    ['const tellRobot = 1', 'tellRobot'],
    ['function letIn() {}', 'letIn'],
    ['type SessionFact = string', 'SessionFact'],
    ['interface A { seat: string }', 'seat'],
    ['class A { #wish = 1 }', 'wish'],
    ['class A { standStill() {} }', 'standStill'],
    ['const f = (desk: string) => desk', 'desk'],
    ['const { a: place } = b', 'place'],
    ['const [crew = 1, ...news] = b', 'crew'],
    ['const a = { told: 1 }', 'told'],
    ["import { a as somebody } from './b.ts'", 'somebody'],
    ['export { a as people }', 'people'],
  ])('%s is refused', (text, name) => {
    expect(check(text)[0]).toMatchObject({ line: 1, rule: 'banned-identifier' })
    expect(check(text)[0]?.message).toContain(`"${name}"`)
  })

  test.each([
    'const understand = placeholder.factory',
    'const { place } = body',
    'const { place: location } = body',
    'call(body.tell)',
    'const isMoving = true',
    "const texts = { 'a sentence about people': 1 }",
  ])('%s passes: it declares no banned name', (text) => {
    expect(check(text)).toEqual([])
  })

  test('an exception needs its exact name and folder, and is reported when nothing uses it', () => {
    const repository = Repository.of({ 'src/core/a.ts': 'const company_name = 1' })
    const exception = { name: 'company_name', under: 'src/core/', reason: 'wire' }
    expect(checkIdentifiers(repository, [exception])).toEqual([])
    expect(checkIdentifiers(repository, [{ ...exception, under: 'hub/' }]).map(({ rule }) => rule)).toEqual([
      'banned-identifier',
      'unused-exception',
    ])
  })

  test('of every kind of declaration are read', () => {
    const { path, text } = {
      path: 'a.ts',
      text: 'export const a = <T,>(b: T, { c = 1 }: { d: T }): [e: T] => [b]',
    }
    const names = declaredNames(Repository.of({ [path]: text }).source(path)).map(({ name }) => name)
    expect(names.sort()).toEqual(['T', 'a', 'b', 'd', 'e'])
  })
})

describe('file names', () => {
  const rulesFor = (path: string) => checkFileNames(Repository.of({ [path]: '' })).map(({ rule }) => rule)

  test.each([
    ['src/core/tell-robot.ts', 'banned-file-name'],
    ['src/modules/desk/index.ts', 'banned-file-name'],
    ['src/core/robotLog.ts', 'kebab-case'],
    ['src/modules/robots/robot.claims.ts', 'file-suffix'],
    ['src/modules/robots/robot.page.ts', 'file-suffix'],
    ['src/robots/robot.ts', 'src-folders'],
  ])('%s is refused', (path, rule) => {
    expect(rulesFor(path)).toContain(rule)
  })

  test.each([
    'src/modules/robots/robot.service.ts',
    'src/modules/robots/robot.schema.test.ts',
    'packages/console/src/robots/robots.page.tsx',
    'vitest.config.ts',
    'src/main.ts',
  ])('%s passes', (path) => {
    expect(rulesFor(path)).toEqual([])
  })

  test('a ninth folder at the top is refused', () => {
    const files = Object.fromEntries([...'abcdefghi'].map((folder) => [`${folder}/a.md`, '']))
    expect(checkFileNames(Repository.of(files)).map(({ rule }) => rule)).toEqual(['top-folders'])
  })

  test('a pair of words is banned although each of the words is allowed', () => {
    expect(bannedPartOf('letGo')).toMatchObject({ words: 'let go' })
    expect(bannedPartOf('goLet')).toBeUndefined()
  })
})
