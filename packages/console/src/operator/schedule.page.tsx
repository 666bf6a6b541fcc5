import { Box, Button, Card, Group, Menu, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@wheelhouse/sdk'
import { type KeyboardEvent, useState } from 'react'
import { LeaveDialog } from '../base/confirm-button.tsx'
import { Form, Saved } from '../base/form.tsx'
import { shortWeekday, weekdayNames } from '../base/format.ts'
import { Page } from '../base/page.tsx'
import { Note, Problem, QueryView } from '../base/states.tsx'
import { ZoneSelect } from '../base/zone-select.tsx'
import { useRead, useWrite } from '../platform/rest.ts'
import { language, t } from '../texts/texts.ts'
import { AvailabilityLine } from './availability-line.tsx'
import { availabilityKey, scheduleKey } from './queries.ts'

/** The days from Monday, which is 1 in ISO 8601, to Sunday. */
const weekdays = weekdayNames().map((name, index) => ({
  weekday: index + 1,
  name,
  // 1 January 2024 was a Monday.
  short: shortWeekday(`2024-01-0${index + 1}`),
}))

type Slot = Schemas['ScheduleSlot']
interface Week {
  readonly timezone: string
  readonly slots: readonly Slot[]
}

/** A slot as typed in the form. Its times may be incomplete. */
interface DraftSlot extends Readonly<Slot> {
  readonly id: string
}
interface DraftWeek extends Week {
  readonly slots: readonly DraftSlot[]
}

/** The maximum number of slots of a schedule. */
const MAX_SLOTS = 50
const DAY_MINUTES = 1_440
/** The step of the arrow keys. */
const STEP_MINUTES = 15

const draftOf = ({ timezone, slots }: Week): DraftWeek => ({
  timezone,
  slots: slots.map((slot) => ({ ...slot, id: crypto.randomUUID() })),
})

/** Returns the request body for a draft. Requires a week without problems. */
const scheduleOf = ({ timezone, slots }: DraftWeek): Schemas['Schedule'] => ({
  timezone,
  slots: slots.map(({ weekday, start, end }) => ({
    weekday,
    start: normalizeTime(start),
    end: normalizeTime(end),
  })),
})

/** Returns the minutes since midnight of a time such as `9`, `930` or `09:30`, undefined for other text. */
function minutesOf(text: string): number | undefined {
  const parts = /^(\d{1,2})(?:[:.h]?(\d\d))?$/.exec(text.trim())
  if (!parts) return undefined
  const [hours, minutes] = [Number(parts[1]), Number(parts[2] ?? 0)]
  const sum = hours * 60 + minutes
  return minutes < 60 && sum <= DAY_MINUTES ? sum : undefined
}

const timeOf = (minutes: number): string =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

/** Returns a time in the format of the platform. Other text stays unchanged. */
function normalizeTime(text: string): string {
  const minutes = minutesOf(text)
  return minutes === undefined ? text : timeOf(minutes)
}

function stepTime(text: string, direction: 1 | -1): string {
  const minutes = minutesOf(text)
  if (minutes === undefined) return text
  const next = (direction > 0 ? Math.floor : Math.ceil)(minutes / STEP_MINUTES) + direction
  return timeOf(Math.min(DAY_MINUTES, Math.max(0, next * STEP_MINUTES)))
}

interface SlotProblem {
  readonly start?: string
  readonly end?: string
}

/** Returns the problems of invalid slots, by slot id. */
function problemsOf(slots: readonly DraftSlot[]): ReadonlyMap<string, SlotProblem> {
  const problems = new Map<string, SlotProblem>()
  const validSlots: { id: string; weekday: number; from: number; to: number }[] = []
  for (const { id, weekday, start, end } of slots) {
    const [from, to] = [minutesOf(start), minutesOf(end)]
    if (from === undefined || from === DAY_MINUTES) {
      problems.set(id, { start: t('operator.day.badStart') })
    } else if (to === undefined) {
      problems.set(id, { end: t('operator.day.badEnd') })
    } else if (to <= from) {
      problems.set(id, { end: t('operator.day.endBeforeStart') })
    } else validSlots.push({ id, weekday, from, to })
  }
  validSlots.sort((a, b) => a.weekday - b.weekday || a.from - b.from)
  for (const [index, slot] of validSlots.entries()) {
    const before = validSlots
      .slice(0, index)
      .find((earlier) => earlier.weekday === slot.weekday && earlier.to > slot.from)
    if (before) problems.set(slot.id, { start: overlapText(before) })
  }
  return problems
}

const overlapText = ({ from, to }: { readonly from: number; readonly to: number }): string =>
  t('operator.day.overlap', { from: timeOf(from), to: timeOf(to) })

/** Returns a new slot for a day: 9 to 17 on an empty day, otherwise one hour after the last slot. */
function newSlot(slots: readonly DraftSlot[], weekday: number): DraftSlot {
  const ends = slots.filter((slot) => slot.weekday === weekday).map(({ end }) => minutesOf(end) ?? 0)
  const id = crypto.randomUUID()
  if (ends.length === 0) return { id, weekday, start: '09:00', end: '17:00' }
  const from = Math.min(Math.max(...ends), DAY_MINUTES - 60)
  return { id, weekday, start: timeOf(from), end: timeOf(from + 60) }
}

/** Replaces the slots of other days with copies of the slots of one day. */
function copyDay(slots: readonly DraftSlot[], from: number, to: readonly number[]): readonly DraftSlot[] {
  const days = to.filter((day) => day !== from)
  const source = slots.filter((slot) => slot.weekday === from)
  const copies = days.flatMap((weekday) =>
    source.map((slot) => ({ ...slot, weekday, id: crypto.randomUUID() })),
  )
  return [...slots.filter((slot) => !days.includes(slot.weekday)), ...copies]
}

/** Returns whether two weeks are equal, in any order of slots. */
function sameWeek(a: Week, b: Week): boolean {
  const text = ({ timezone, slots }: Week) =>
    JSON.stringify([
      timezone,
      slots.map((s) => `${s.weekday} ${normalizeTime(s.start)} ${normalizeTime(s.end)}`).sort(),
    ])
  return text(a) === text(b)
}

function WeekEditor({ saved }: { saved: Schemas['Schedule'] }) {
  const [draft, setDraft] = useState<DraftWeek>(() => draftOf(saved))
  const [base, setBase] = useState(saved)
  if (base !== saved) {
    // The schedule was saved here or in another window. Shows it unless the draft has other changes.
    setBase(saved)
    if (sameWeek(draft, base)) setDraft(draftOf(saved))
  }
  const queries = useQueryClient()
  const save = useWrite(
    (rest, week: DraftWeek) => rest.POST('/api/operator/schedule', { body: scheduleOf(week) }),
    {
      stores: scheduleKey,
      onSuccess: (schedule) => {
        setDraft(draftOf(schedule))
        void queries.invalidateQueries({ queryKey: availabilityKey })
      },
    },
  )
  const problems = problemsOf(draft.slots)
  const tooMany = draft.slots.length > MAX_SLOTS
  const changed = !sameWeek(draft, saved)
  const change = (next: Partial<DraftWeek>) => {
    save.reset()
    setDraft((old) => ({ ...old, ...next }))
  }
  const submit = () => {
    if (problems.size === 0 && !tooMany) save.mutate(draft)
  }
  return (
    <Form onSubmit={submit} noValidate>
      <ZoneSelect
        label={t('operator.schedule.zone')}
        description={t('operator.schedule.zoneNote')}
        maw={360}
        value={draft.timezone}
        onChange={(timezone) => change({ timezone })}
      />
      <WeekChart slots={draft.slots} />
      {weekdays.map((day) => (
        <DayEditor
          key={day.weekday}
          day={day}
          slots={draft.slots}
          problems={problems}
          onChange={(slots) => change({ slots })}
        />
      ))}
      {tooMany && (
        <Text c="red" role="alert">
          {t('operator.schedule.tooMany', { slots: MAX_SLOTS })}
        </Text>
      )}
      <Problem error={save.error} />
      <Group>
        <Button type="submit" disabled={problems.size > 0 || tooMany} loading={save.isPending}>
          {t('common.save')}
        </Button>
        {changed && (
          <Button variant="default" onClick={() => change(draftOf(saved))}>
            {t('operator.schedule.undo')}
          </Button>
        )}
        {changed ? <Text size="sm">{t('operator.schedule.unsaved')}</Text> : <Saved when={save.isSuccess} />}
      </Group>
      <LeaveDialog
        isNeeded={() => changed && !save.isPending}
        question={t('operator.leave.question')}
        consequence={t('operator.leave.consequence')}
        confirmLabel={t('operator.leave.leave')}
        dismissLabel={t('operator.leave.stay')}
      />
    </Form>
  )
}

interface Props {
  readonly day: (typeof weekdays)[number]
  /** The slots of the whole week. */
  readonly slots: readonly DraftSlot[]
  readonly problems: ReadonlyMap<string, SlotProblem>
  readonly onChange: (slots: readonly DraftSlot[]) => void
}

function DayEditor({ day: { weekday, name }, slots, problems, onChange }: Props) {
  const daySlots = slots.filter((slot) => slot.weekday === weekday)
  const replaceSlot = (changed: DraftSlot) =>
    onChange(slots.map((slot) => (slot.id === changed.id ? changed : slot)))
  return (
    <Card component="section" aria-label={name} padding="sm">
      <Stack gap="xs">
        <Group justify="space-between">
          <Title order={2}>{name}</Title>
          <Group gap="xs">
            {daySlots.length > 0 && (
              <CopyMenu from={weekday} name={name} onCopy={(to) => onChange(copyDay(slots, weekday, to))} />
            )}
            <Button
              variant="default"
              size="xs"
              aria-label={t('operator.day.addLabel', { day: name })}
              onClick={() => onChange([...slots, newSlot(slots, weekday)])}
            >
              {t('operator.day.add')}
            </Button>
          </Group>
        </Group>
        {daySlots.length === 0 && <Note>{t('operator.day.empty')}</Note>}
        {daySlots.map((slot, index) => {
          const label = daySlots.length > 1 ? t('operator.day.slot', { day: name, number: index + 1 }) : name
          return (
            <Group key={slot.id} align="flex-start" gap="xs">
              <TimeField
                label={t('operator.day.from', { slot: label })}
                value={slot.start}
                error={problems.get(slot.id)?.start}
                onChange={(start) => replaceSlot({ ...slot, start })}
              />
              <TimeField
                label={t('operator.day.to', { slot: label })}
                value={slot.end}
                error={problems.get(slot.id)?.end}
                onChange={(end) => replaceSlot({ ...slot, end })}
              />
              <Button
                variant="default"
                mt={25}
                aria-label={t('operator.day.removeLabel', { slot: label })}
                onClick={() => onChange(slots.filter(({ id }) => id !== slot.id))}
              >
                {t('common.remove')}
              </Button>
            </Group>
          )
        })}
      </Stack>
    </Card>
  )
}

/** Renders a text field for a time of day up to 24:00. The arrow keys change it in steps of 15 minutes. */
function TimeField(props: {
  label: string
  value: string
  error: string | undefined
  onChange: (value: string) => void
}) {
  const { label, value, error, onChange } = props
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowUp' && event.key !== 'ArrowDown') return
    event.preventDefault()
    onChange(stepTime(value, event.key === 'ArrowUp' ? 1 : -1))
  }
  return (
    <TextInput
      label={label}
      value={value}
      error={error}
      w={170}
      maxLength={5}
      autoComplete="off"
      onChange={(event) => onChange(event.currentTarget.value)}
      onKeyDown={onKey}
      onBlur={() => onChange(normalizeTime(value))}
    />
  )
}

const MONDAY_TO_FRIDAY = [1, 2, 3, 4, 5]
const EVERY_DAY = weekdays.map(({ weekday }) => weekday)

const CopyMenu = (props: { from: number; name: string; onCopy: (to: readonly number[]) => void }) => (
  <Menu>
    <Menu.Target>
      <Button variant="default" size="xs" aria-label={t('operator.day.copyLabel', { day: props.name })}>
        {t('operator.day.copy')}
      </Button>
    </Menu.Target>
    <Menu.Dropdown>
      <Menu.Item onClick={() => props.onCopy(EVERY_DAY)}>{t('operator.day.everyDay')}</Menu.Item>
      <Menu.Item onClick={() => props.onCopy(MONDAY_TO_FRIDAY)}>{t('operator.day.mondayToFriday')}</Menu.Item>
      <Menu.Divider />
      {weekdays
        .filter(({ weekday }) => weekday !== props.from)
        .map(({ weekday, name }) => (
          <Menu.Item key={weekday} onClick={() => props.onCopy([weekday])}>
            {name}
          </Menu.Item>
        ))}
    </Menu.Dropdown>
  </Menu>
)

const HOUR_MARKS = [0, 6, 12, 18, 24]
const share = (minutes: number) => `${(minutes / DAY_MINUTES) * 100}%`

interface Span {
  readonly id: string
  readonly from: number
  readonly to: number
}

/** Charts the week, one bar per day. Omits incomplete input. */
function WeekChart({ slots }: { slots: readonly DraftSlot[] }) {
  const days = weekdays.map((day) => ({ ...day, spans: spansOf(slots, day.weekday) }))
  const total = days.flatMap(({ spans }) => spans).reduce((sum, { from, to }) => sum + to - from, 0)
  const hours = Math.round((total / 60) * 100) / 100
  return (
    <div>
      <Stack role="img" aria-label={weekText(days)} gap={4}>
        {days.map(({ weekday, short, spans }) => (
          <Group key={weekday} gap={8} wrap="nowrap">
            <Text size="sm" w="2.5rem" flex="none">
              {short}
            </Text>
            <Box
              pos="relative"
              flex={1}
              h={18}
              bg="var(--mantine-color-default-border)"
              bdrs={4}
              style={{ overflow: 'hidden' }}
            >
              {spans.map(({ id, from, to }) => (
                <Box key={id} pos="absolute" h="100%" bg="teal.7" left={share(from)} w={share(to - from)} />
              ))}
            </Box>
          </Group>
        ))}
        <Group justify="space-between" ms="calc(2.5rem + 8px)" fz="xs" c="dimmed">
          {HOUR_MARKS.map((hour) => (
            <span key={hour}>{hour}</span>
          ))}
        </Group>
      </Stack>
      <Note>{t('operator.schedule.hours', { count: hours })}</Note>
    </div>
  )
}

const list = new Intl.ListFormat(language, { type: 'conjunction' })

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

export function SchedulePage() {
  const query = useRead(scheduleKey, (rest) => rest.GET('/api/operator/schedule'))
  return (
    <Page title={t('operator.schedule.title')} description={t('operator.schedule.description')}>
      <AvailabilityLine />
      <QueryView query={query}>{(schedule) => <WeekEditor saved={schedule} />}</QueryView>
    </Page>
  )
}
