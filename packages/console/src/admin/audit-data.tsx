import { Text } from '@mantine/core'
import { plainWords, typeWords as words } from '@wheelhouse/protocol'
import { dateTime, money } from '../ui/format.ts'

/** What else there is to know of an act: a line for each field. */
export const AuditData = ({ data }: { data: Readonly<Record<string, unknown>> }) => (
  <dl style={{ margin: 0, display: 'grid', gridTemplateColumns: 'auto 1fr', columnGap: '0.75rem' }}>
    {Object.entries(data).map(([name, value]) => (
      <div key={name} style={{ display: 'contents' }}>
        <Text component="dt" size="sm" c="dimmed">
          {words(name.replace(/_(cents|at)$/, ''))}
        </Text>
        <Text component="dd" size="sm" m={0} style={{ overflowWrap: 'anywhere' }}>
          {formatValue(name, value)}
        </Text>
      </div>
    ))}
  </dl>
)

/** A status or a code as words; what participants wrote as it is. */
const codeLabel = (value: string): string =>
  /^[A-Z]+(_[A-Z]+)*$/.test(value) ? words(value.toLowerCase()) : plainWords(value)

/** A value in words, by what the name of its field says of it. */
export function formatValue(name: string, value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (typeof value === 'number' && name.endsWith('_cents')) return money(value)
  if (typeof value === 'string' && name.endsWith('_at') && !Number.isNaN(Date.parse(value)))
    return dateTime(value)
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'string') return codeLabel(value)
  if (typeof value === 'number') return value.toLocaleString()
  if (Array.isArray(value)) return value.map((item) => formatValue(name, item)).join(', ') || 'none'
  return Object.entries(value)
    .map(([key, item]) => `${words(key.replace(/_(cents|at)$/, ''))}: ${formatValue(key, item)}`)
    .join('; ')
}
