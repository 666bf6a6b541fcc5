import { describe, expect, test } from 'vitest'
import { checkTexts } from './check-texts.ts'
import { Repository } from './repository.ts'

const PAGE = 'packages/console/src/billing/a.tsx'
const rulesFor = (files: Record<string, string>) =>
  checkTexts(Repository.of(files)).map(({ rule, line }) => `${rule}:${line}`)

describe('texts outside the catalogue', () => {
  test.each([
    'const a = <p>Invoices</p>',
    'const a = <p aria-label="invoices" />',
    "const a = <p>{open ? 'Open' : b}</p>",
    'const a = <p title={`in $' + '{b}`} />',
    "const a = { label: 'all' }",
    "const a = 'Not issued yet.'",
    'const a = `$' + '{count} sessions left`',
  ])('%s is refused', (text) => {
    expect(rulesFor({ [PAGE]: text })).toEqual(['texts-in-catalogue:1'])
  })

  test.each([
    "import { a } from './Some file.ts'",
    "const a = b === 'Escape'",
    "throw new Error('No such invoice')",
    '<a rel="noopener noreferrer" />',
    "<p className=\"invoice\" style={{ display: 'none' }}>{t('billing.title')} · 5</p>",
    "import('./invoices.page.tsx').then(({ InvoicesPage }) => get(a, 'InvoicesPage'))",
  ])('%s passes', (text) => {
    expect(rulesFor({ [PAGE]: text })).toEqual([])
  })

  test('are allowed in the gallery, which is a tool of developers', () => {
    expect(rulesFor({ 'packages/console/src/gallery/a.tsx': 'const a = <p>Invoices</p>' })).toEqual([])
  })
})

describe('the catalogue', () => {
  const check = (catalogue: object, source: string) =>
    rulesFor({ 'packages/console/src/texts/en.json': JSON.stringify(catalogue), [PAGE]: source })

  test('has the keys that are used, and no others', () => {
    expect(check({ a: { b: 'B', c: 'C' } }, "t('a.b')")).toEqual(['unused-text:undefined'])
    expect(check({ a: { b: 'B' } }, "t('a.b')\nt('a.c')")).toEqual(['unknown-text:2'])
    expect(check({ a: { b: 'B', c: 'C' } }, "t(open ? 'a.b' : 'a.c')")).toEqual([])
    expect(check({ a: { b_one: 'one', b_other: 'several' } }, "t('a.b', { count })")).toEqual([])
  })

  test('is complete in every language', () => {
    const rules = (en: object, de: object) =>
      checkTexts(
        Repository.of({
          'packages/console/src/texts/en.json': JSON.stringify(en),
          'packages/console/src/texts/de.json': JSON.stringify(de),
          [PAGE]: "t('a.b', { count })",
        }),
      ).map(({ file, message }) => `${file?.slice(-7)}: ${message}`)
    const en = { a: { b: '{{count}} robots' } }
    expect(rules(en, { a: { b: '{{count}} Roboter' }, codes: { paused: 'Pause' } })).toEqual([])
    expect(rules(en, { a: { c: 'C' } })).toEqual([
      'de.json: a.b has no translation',
      'de.json: a.c is not in packages/console/src/texts/en.json: remove it',
    ])
    expect(rules(en, { a: { b: '{{count, number}} Roboter' } })).toEqual([
      'de.json: a.b has the values count, number, not count',
    ])
  })

  test('lists keys in tables too', () => {
    expect(check({ a: { b: 'B' } }, "const labels = { open: 'a.b' }")).toEqual([])
  })

  test('gets all its values', () => {
    const catalogue = { a: { b: '{{name}} of {{total, number}}' } }
    expect(check(catalogue, "t('a.b', { name })")).toEqual(['missing-text-value:1'])
    expect(check(catalogue, "t('a.b', { name, total })")).toEqual([])
    expect(check(catalogue, "textParts('a.b', { name, total })")).toEqual([])
    expect(check(catalogue, "t('a.b', values)")).toEqual([])
  })
})
