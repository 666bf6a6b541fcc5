import type { Schemas } from '@wheelhouse/sdk'
import type { Output } from '../output.ts'

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const languages = { en: 'English', de: 'German' } as const
const onOff = (on: boolean) => (on ? 'on' : 'off')

/** Prints notification settings: a row for each group, the quiet hours and the language. */
export function showSettings(out: Output, settings: Schemas['NotificationSettings']): void {
  out.result(settings, () => {
    out.table(Object.entries(settings.matrix), [
      { title: 'GROUP', value: ([group]) => group },
      { title: 'IN APP', value: ([, channels]) => onOff(channels.in_app) },
      { title: 'MAIL', value: ([, channels]) => onOff(channels.mail) },
      { title: 'PUSH', value: ([, channels]) => onOff(channels.push) },
    ])
    out.line(quietHoursText(settings.quiet_hours))
    out.line(`Language of mails: ${languages[settings.language ?? 'en']}.`)
  })
}

function quietHoursText(hours: Schemas['QuietHours'] | null): string {
  if (hours === null) return 'No quiet hours.'
  const days = hours.days.length === 7 ? 'every day' : hours.days.map((day) => WEEKDAYS[day - 1]).join(', ')
  const safety = hours.safety_passes
    ? 'Remote stops and lost robots pass.'
    : 'Remote stops are held back, too.'
  return `Quiet hours: ${hours.start} to ${hours.end} (${hours.time_zone}), beginning ${days}. ${safety}`
}
