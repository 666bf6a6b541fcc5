import { InvalidArgumentError } from 'commander'

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

/** The hours of a day that are quiet, or `off`. */
export type Hours = { readonly start: string; readonly end: string } | 'off'

/** Parses quiet hours such as `22:00-07:00`, or `off`. */
export function parseHours(text: string): Hours {
  if (text === 'off') return text
  const [, start, end] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text) ?? []
  if (start === undefined || end === undefined)
    throw new InvalidArgumentError('Enter two times such as 22:00-07:00, or off.')
  return { start, end }
}

/** Parses names of weekdays. @returns their numbers, 1 for Monday */
export function parseWeekdays(text: string): number[] {
  const numbers = text.split(',').map((name) => WEEKDAYS.indexOf(name.trim().toLowerCase()) + 1)
  if (numbers.includes(0)) throw new InvalidArgumentError(`Enter days such as ${WEEKDAYS.join(',')}.`)
  return [...new Set(numbers)]
}
