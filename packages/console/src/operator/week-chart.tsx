import { Box, Text } from '@mantine/core'
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
  const spokenDays = days
    .filter(({ spans }) => spans.length > 0)
    .map(
      ({ name, spans }) =>
        `${name} ${spans.map((s) => `${timeOf(s.from)} to ${timeOf(s.to)}`).join(' and ')}`,
    )
  return (
    <div>
      <Box role="img" aria-label={`The week: ${spokenDays.join('; ') || 'no hours'}`} className={styles.week}>
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
        {hours} hours a week
      </Text>
    </div>
  )
}

function spansOf(slots: readonly DraftSlot[], weekday: number): Span[] {
  return slots.flatMap((slot) => {
    const [from, to] = [minutesOf(slot.start), minutesOf(slot.end)]
    return slot.weekday === weekday && from !== undefined && to !== undefined && to > from
      ? [{ id: slot.id, from, to }]
      : []
  })
}
