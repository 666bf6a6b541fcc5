import { Text } from '@mantine/core'
import { plainWords, typeWords as words } from '@wheelhouse/protocol'
import { language, t } from '../texts/texts.ts'
import { dateTime, money } from '../ui/format.ts'

const list = new Intl.ListFormat(language, { type: 'unit', style: 'short' })

/** Lists the data of an audit entry, one line per field. */
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

/** Returns a status or a code as words, and text that a user wrote unchanged. */
const codeLabel = (value: string): string =>
  /^[A-Z]+(_[A-Z]+)*$/.test(value) ? words(value.toLowerCase()) : plainWords(value)

/** Returns a value as text. The suffix of the field name (`_cents`, `_at`) selects the format. */
function formatValue(name: string, value: unknown): string {
  if (value === null || value === undefined) return t('admin.audit.none')
  if (typeof value === 'number' && name.endsWith('_cents')) return money(value)
  if (typeof value === 'string' && name.endsWith('_at') && !Number.isNaN(Date.parse(value)))
    return dateTime(value)
  if (typeof value === 'boolean') return t(value ? 'admin.audit.yes' : 'admin.audit.no')
  if (typeof value === 'string') return codeLabel(value)
  if (typeof value === 'number') return value.toLocaleString(language)
  if (Array.isArray(value))
    return list.format(value.map((item) => formatValue(name, item))) || t('admin.audit.none')
  return Object.entries(value)
    .map(([key, item]) => `${words(key.replace(/_(cents|at)$/, ''))}: ${formatValue(key, item)}`)
    .join('; ')
}
