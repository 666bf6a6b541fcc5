import { Fragment, isValidElement } from 'react'
import { expect, test } from 'vitest'
import { textParts } from './text-parts.tsx'
import { language, t } from './texts.ts'

test('a text has its values, its plural and numbers in the format of the language', () => {
  expect(language).toMatch(/^en\b/)
  expect(t('billing.invoices.title')).toBe('Invoices')
  expect(t('billing.lines.sessions', { count: 1 })).toBe('1 session')
  expect(t('billing.lines.sessions', { count: 3 })).toBe('3 sessions')
  expect(t('exports.row.size', { rows: 1_234, size: '2 MB' })).toBe(
    `${(1_234).toLocaleString(language)} sessions, 2 MB`,
  )
  expect(t('billing.invoice.billedTo', { recipient: 'A & <B>' })).toBe('For A & <B>')
})

test.each(['$t(common.cancel)', '{{recipient}}', '{{count}}', '$& $1', '<b>'])(
  'a value is shown unchanged: %s',
  (recipient) => {
    expect(t('billing.invoice.billedTo', { recipient })).toBe(`For ${recipient}`)
  },
)

test('a text has elements in the places of its names', () => {
  const parts = textParts('exports.row.created', { created: 'yesterday', expires: 'today' })
  const contents = (parts as unknown[]).map((part) =>
    isValidElement<{ children: unknown }>(part) && part.type === Fragment ? part.props.children : part,
  )
  expect(contents.join('')).toBe('Created yesterday, expires today')
})
