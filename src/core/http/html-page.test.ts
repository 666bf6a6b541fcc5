import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { problemText, renderHeader, template } from './html-page.ts'

const ATTACK = `"'><script>alert(1)</script>&`
const ESCAPED = '&quot;&#39;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;'

test('a template escapes every value: in text, in an attribute, in a list, and of an object that looks like HTML', () => {
  const page = template<{ text: unknown }>('<p title="<%= it.text %>"><%= it.text %></p>')
  for (const text of [ATTACK, [ATTACK], { toString: () => ATTACK }]) {
    expect(page({ text }).toString()).toBe(`<p title="${ESCAPED}">${ESCAPED}</p>`)
  }
})

test('a template inserts what another template rendered unchanged, and nothing for a missing value', () => {
  const page = template<{ parts: unknown }>('[<%= it.parts %>]')
  const problem = problemText({ text: ATTACK })
  expect(page({ parts: [problem, ATTACK] }).toString()).toBe(`[<p class="problem">${ESCAPED}</p>${ESCAPED}]`)
  expect(page({ parts: undefined }).toString()).toBe('[]')
})

test('pages and the console have the same mark', () => {
  const icon = readFileSync(new URL('../../../packages/console/src/app/icon.svg', import.meta.url), 'utf8')
  const [, mark = ''] = /<svg[^>]*>(.*)<\/svg>/.exec(renderHeader({ wide: false }).toString()) ?? []
  expect(icon.replace('<title>Wheelhouse</title>', '')).toContain(`>${mark}</svg>`)
})
