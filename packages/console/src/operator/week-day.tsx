import { Button, Card, Group, Menu, Stack, Text, TextInput, Title } from '@mantine/core'
import type { KeyboardEvent } from 'react'
import { t } from '../texts/texts.ts'
import {
  copyDay,
  type DraftSlot,
  newSlot,
  normalizeTime,
  type SlotProblem,
  stepTime,
  type Weekday,
  weekdays,
} from './week.ts'

interface Props {
  readonly day: Weekday
  /** The slots of the whole week. */
  readonly slots: readonly DraftSlot[]
  readonly problems: ReadonlyMap<string, SlotProblem>
  readonly onChange: (slots: readonly DraftSlot[]) => void
}

/** Edits the hours of one weekday. */
export function DayEditor({ day: { weekday, name }, slots, problems, onChange }: Props) {
  const daySlots = slots.filter((slot) => slot.weekday === weekday)
  const replaceSlot = (changed: DraftSlot) =>
    onChange(slots.map((slot) => (slot.id === changed.id ? changed : slot)))
  return (
    <Card withBorder component="section" aria-label={name} padding="sm">
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
        {daySlots.length === 0 && (
          <Text size="sm" c="dimmed">
            {t('operator.day.empty')}
          </Text>
        )}
        {daySlots.map((slot, index) => (
          <SlotFields
            key={slot.id}
            slot={slot}
            label={daySlots.length > 1 ? t('operator.day.slot', { day: name, number: index + 1 }) : name}
            problem={problems.get(slot.id)}
            onChange={replaceSlot}
            onRemove={() => onChange(slots.filter(({ id }) => id !== slot.id))}
          />
        ))}
      </Stack>
    </Card>
  )
}

interface SlotProps {
  readonly slot: DraftSlot
  readonly label: string
  readonly problem: SlotProblem | undefined
  readonly onChange: (slot: DraftSlot) => void
  readonly onRemove: () => void
}

function SlotFields({ slot, label, problem, onChange, onRemove }: SlotProps) {
  return (
    <Group align="flex-start" gap="xs">
      <TimeField
        label={t('operator.day.from', { slot: label })}
        value={slot.start}
        error={problem?.start}
        onChange={(start) => onChange({ ...slot, start })}
      />
      <TimeField
        label={t('operator.day.to', { slot: label })}
        value={slot.end}
        error={problem?.end}
        onChange={(end) => onChange({ ...slot, end })}
      />
      <Button
        variant="default"
        mt={25}
        aria-label={t('operator.day.removeLabel', { slot: label })}
        onClick={onRemove}
      >
        {t('common.remove')}
      </Button>
    </Group>
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
