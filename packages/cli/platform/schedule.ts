import { answerOf } from '@wheelhouse/sdk'
import type { Context } from '../context.ts'
import { styled } from '../text.ts'
import { formatTime } from '../views.ts'

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

/** Prints an operator's weekly schedule and current availability. */
export async function run(cli: Context): Promise<void> {
  const [schedule, availability] = await Promise.all([
    answerOf(cli.rest.GET('/api/operator/schedule')),
    answerOf(cli.rest.GET('/api/operator/availability')),
  ])
  const { out } = cli
  out.result({ ...schedule, availability }, () => {
    const { available, reason, next_available_at } = availability
    if (available) out.line(styled('green', 'You are available now.'))
    else {
      const next = formatTime(next_available_at)
      out.line(
        `You are not available now: ${(reason ?? 'unknown').replaceAll('_', ' ')}${next ? `; available from ${next}` : ''}.`,
      )
    }
    if (schedule.slots.length === 0) return out.note('Your schedule is empty. Set it in the console.')
    out.line(`Your weekly schedule, in ${schedule.timezone}:`)
    out.table(schedule.slots, [
      { title: 'DAY', value: ({ weekday }) => WEEKDAYS[weekday - 1] },
      { title: 'FROM', value: ({ start }) => start },
      { title: 'TO', value: ({ end }) => end },
    ])
  })
}
