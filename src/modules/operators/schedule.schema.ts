import { idOf } from '@wheelhouse/protocol'
import { z } from 'zod'
import { timestamp } from '../../core/http/fields.ts'
import { timeZone } from '../../core/http/locale-fields.ts'

/** ISO 8601: 1 is Monday. */
const weekdayNames = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

const clock = (pattern: RegExp, example: string) =>
  z
    .string()
    .regex(pattern, `must be a time such as ${example}`)
    .meta({ examples: [example.slice(0, 5)] })

const slot = {
  weekday: z.number().int().min(1).max(7).meta({ description: 'As in ISO 8601: 1 is Monday.' }),
  start: clock(/^([01]\d|2[0-3]):[0-5]\d$/, '09:00'),
  end: clock(/^(([01]\d|2[0-3]):[0-5]\d|24:00)$/, '17:00 (or 24:00)'),
}
/** Hours of one weekday, in local time of the schedule's zone. `end` is exclusive. */
export const Slot = z.strictObject(slot)
export type Slot = z.infer<typeof Slot>

const formatSlot = (slot: Slot) => `${slot.start}–${slot.end}`

/** `HH:MM` times of equal length sort like text. */
const bySlotStart = (a: Slot, b: Slot) =>
  a.weekday - b.weekday || (a.start < b.start ? -1 : Number(a.start > b.start))

const slots = z
  .array(Slot)
  .max(50)
  .superRefine((input, context) => {
    for (const [index, slot] of input.entries()) {
      if (slot.start < slot.end) continue
      context.addIssue({
        code: 'custom',
        path: [index],
        message: `end must be after start (${formatSlot(slot)}); a slot must not cross midnight. Split it in two: until 24:00, and from 00:00 of the next weekday`,
      })
    }
    const sorted = input.filter((slot) => slot.start < slot.end).sort(bySlotStart)
    for (const [index, slot] of sorted.entries()) {
      const next = sorted[index + 1]
      if (next?.weekday !== slot.weekday || next.start >= slot.end) continue
      const day = weekdayNames[slot.weekday - 1]
      context.addIssue({
        code: 'custom',
        message: `${day} ${formatSlot(slot)} and ${formatSlot(next)} overlap`,
      })
    }
  })
  .transform((input) => [...input].sort(bySlotStart))

const zone = { description: 'An IANA time zone.', examples: ['Europe/Berlin'] }

/** Body of POST /api/operator/schedule: the whole week. Without a zone, the zone of the profile applies. */
export const SaveSchedule = z.strictObject({ timezone: timeZone.meta(zone).optional(), slots })
export type SaveSchedule = z.infer<typeof SaveSchedule>

export const ScheduleView = z
  .object({
    timezone: z.string().meta(zone),
    slots: z.array(
      z.object(slot).meta({
        id: 'ScheduleSlot',
        description: "Hours of one weekday, in local time of the schedule's zone.",
      }),
    ),
  })
  .meta({ id: 'Schedule', description: 'Weekly working hours of an operator.' })
export type ScheduleView = z.infer<typeof ScheduleView>

/** Why an operator is not available: the first reason that applies. */
export const UnavailableReason = z.enum(['in_session', 'no_schedule', 'outside_schedule', 'offline']).meta({
  id: 'UnavailableReason',
  description: 'The first reason that applies: in a session, no schedule, outside its hours, not connected.',
  examples: ['outside_schedule'],
})
export type UnavailableReason = z.infer<typeof UnavailableReason>

export const AvailabilityView = z
  .object({
    available: z.boolean().meta({ examples: [false] }),
    reason: UnavailableReason.nullable().meta({ description: 'Null when available.' }),
    // Within a slot only the reason prevents availability, and its end is unknown.
    next_available_at: timestamp.nullable().meta({
      description: 'When the schedule opens next; null while it is open, and when it never opens.',
      examples: ['2026-11-23T08:00:00.000Z'],
    }),
    open_session_id: idOf('session')
      .nullable()
      .meta({ description: 'The ACTIVE or PAUSED session.', examples: [null] }),
  })
  .meta({ id: 'Availability', description: 'Whether an operator is available now.' })
export type AvailabilityView = z.infer<typeof AvailabilityView>
