import { Button, Card, Group, Menu, Modal, Select, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import type { Schemas } from '@wheelhouse/sdk'
import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { Saved } from '../base/form.tsx'
import { Page } from '../base/page.tsx'
import { Note, Problem, QueryView } from '../base/states.tsx'
import { useRead, useWrite } from '../platform/rest.ts'
import { language, t } from '../texts/texts.ts'
import { AvailabilityLine } from './availability-line.tsx'
import styles from './operator.module.css'
import { availabilityKey, scheduleKey } from './queries.ts'
import {
  copyDay,
  type DraftSlot,
  type DraftWeek,
  draftOf,
  MAX_SLOTS,
  minutesOf,
  newSlot,
  normalizeTime,
  problemsOf,
  type SlotProblem,
  sameWeek,
  scheduleOf,
  stepTime,
  timeOf,
  type Weekday,
  weekdays,
} from './week.ts'

/** Asks for confirmation before the user leaves a page with unsaved changes or closes the browser. */
function UnsavedChangesGuard({ when }: { when: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: () => when,
    enableBeforeUnload: () => when,
    withResolver: true,
  })
  return (
    <Modal opened={status === 'blocked'} onClose={() => reset?.()} title={t('operator.leave.question')}>
      <Stack>
        <Text>{t('operator.leave.consequence')}</Text>
        <Group justify="flex-end">
          <Button variant="default" data-autofocus onClick={() => reset?.()}>
            {t('operator.leave.stay')}
          </Button>
          <Button color="red.9" onClick={() => proceed?.()}>
            {t('operator.leave.leave')}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

type Schedule = Schemas['Schedule']

/** Edits the week and saves it as a whole. */
function WeekEditor({ saved }: { saved: Schedule }) {
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
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (problems.size === 0 && !tooMany) save.mutate(draft)
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <Select
          label={t('operator.schedule.zone')}
          description={t('operator.schedule.zoneNote')}
          required
          searchable
          allowDeselect={false}
          limit={50}
          maw={360}
          data={[...new Set([draft.timezone, ...Intl.supportedValuesOf('timeZone')])]}
          value={draft.timezone}
          onChange={(timezone) => timezone && change({ timezone })}
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
          {changed ? (
            <Text size="sm">{t('operator.schedule.unsaved')}</Text>
          ) : (
            <Saved when={save.isSuccess} />
          )}
        </Group>
      </Stack>
      <UnsavedChangesGuard when={changed && !save.isPending} />
    </form>
  )
}

interface Props {
  readonly day: Weekday
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
const DAY_MINUTES = 1_440
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
            <div className={styles.bar}>
              {spans.map(({ id, from, to }) => (
                <div
                  key={id}
                  className={styles.span}
                  style={{ insetInlineStart: share(from), width: share(to - from) }}
                />
              ))}
            </div>
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

/** Shows and edits the operator's weekly working hours. */
export function SchedulePage() {
  const query = useRead(scheduleKey, (rest) => rest.GET('/api/operator/schedule'))
  return (
    <Page title={t('operator.schedule.title')} description={t('operator.schedule.description')}>
      <AvailabilityLine />
      <QueryView query={query}>{(schedule) => <WeekEditor saved={schedule} />}</QueryView>
    </Page>
  )
}
