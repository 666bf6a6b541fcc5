import { Box, Text } from '@mantine/core'
import { language, t } from '../texts/texts.ts'
import { type DraftSlot, minutesOf, timeOf, weekdays } from './week.ts'
import styles from './week-chart.module.css'

const HOUR_MARKS = [0, 6, 12, 18, 24]
const DAY_MINUTES = 1_440
const share = (minutes: number) => `${(minutes / DAY_MINUTES) * 100}%`

interface Span {
  readonly id: string
  readonly from: number
  readonly to: number
}

/** Charts the week, one bar per day. Omits incomplete input. */
export function WeekChart({ slots }: { slots: readonly DraftSlot[] }) {
  const days = weekdays.map((day) => ({ ...day, spans: spansOf(slots, day.weekday) }))
  const total = days.flatMap(({ spans }) => spans).reduce((sum, { from, to }) => sum + to - from, 0)
  const hours = Math.round((total / 60) * 100) / 100
  return (
    <div>
      <Box role="img" aria-label={weekText(days)} className={styles.week}>
        {days.map(({ weekday, short, spans }) => (
          <div key={weekday} className={styles.day}>
            <span className={styles.name}>{short}</span>
            <div className={styles.bar}>
              {spans.map(({ id, from, to }) => (
                <div
                  key={id}
                  className={styles.span}
                  style={{ insetInlineStart: share(from), width: share(to - from) }}
                />
              ))}
            </div>
          </div>
        ))}
        <div className={styles.marks}>
          {HOUR_MARKS.map((hour) => (
            <span key={hour}>{hour}</span>
          ))}
        </div>
      </Box>
      <Text size="sm" c="dimmed">
        {t('operator.schedule.hours', { count: hours })}
      </Text>
    </div>
  )
}

const list = new Intl.ListFormat(language, { type: 'conjunction' })

/** Returns the week in words, for screen readers. */
function weekText(days: readonly { readonly name: string; readonly spans: readonly Span[] }[]): string {
  const spoken = days
    .filter(({ spans }) => spans.length > 0)
    .map(({ name, spans }) =>
      t('operator.schedule.day', { day: name, hours: list.format(spans.map(spanText)) }),
    )
  return spoken.length > 0
    ? t('operator.schedule.week', { days: spoken.join('; ') })
    : t('operator.schedule.emptyWeek')
}

const spanText = ({ from, to }: Span): string =>
  t('operator.schedule.span', { from: timeOf(from), to: timeOf(to) })

function spansOf(slots: readonly DraftSlot[], weekday: number): Span[] {
  return slots.flatMap((slot) => {
    const [from, to] = [minutesOf(slot.start), minutesOf(slot.end)]
    return slot.weekday === weekday && from !== undefined && to !== undefined && to > from
      ? [{ id: slot.id, from, to }]
      : []
  })
}
