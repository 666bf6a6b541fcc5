import { Checkbox, Group, Select, SimpleGrid, Stack, Switch, TextInput } from '@mantine/core'
import { type FormEvent, useMemo, useState } from 'react'
import { zoneChoices } from '../profiles/choices.ts'
import { t } from '../texts/texts.ts'
import { FormFooter } from '../ui/form.tsx'
import { viewerZone, weekdayNames } from '../ui/format.ts'
import { type NotificationSettings, type QuietHours, useSettingsChange } from './notification-settings.ts'

const weekdays = weekdayNames()

const proposal = (): QuietHours => ({
  start: '22:00',
  end: '07:00',
  time_zone: viewerZone(),
  days: weekdays.map((_, index) => index + 1),
  safety_passes: true,
})

/** Edits the hours during which mail is held back. */
export function QuietHoursForm({ saved }: { saved: NotificationSettings }) {
  const [enabled, setEnabled] = useState(saved.quiet_hours !== null)
  const [hours, setHours] = useState(saved.quiet_hours ?? proposal)
  const change = useSettingsChange()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    change.mutate({ quiet_hours: enabled ? hours : null })
  }
  return (
    <form onSubmit={submit} aria-label={t('settings.quietHours.title')}>
      <Stack>
        <Switch
          label={t('settings.quietHours.title')}
          description={t('settings.quietHours.note')}
          checked={enabled}
          onChange={(event) => setEnabled(event.currentTarget.checked)}
        />
        {enabled && <Fields hours={hours} onChange={(part) => setHours({ ...hours, ...part })} />}
        <FormFooter change={change} />
      </Stack>
    </form>
  )
}

interface FieldsProps {
  readonly hours: QuietHours
  readonly onChange: (part: Partial<QuietHours>) => void
}

function Fields({ hours, onChange }: FieldsProps) {
  const zones = useMemo(() => zoneChoices(hours.time_zone), [hours.time_zone])
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <TextInput
          type="time"
          label={t('settings.quietHours.start')}
          required
          value={hours.start}
          onChange={(event) => onChange({ start: event.currentTarget.value })}
        />
        <TextInput
          type="time"
          label={t('settings.quietHours.end')}
          required
          value={hours.end}
          onChange={(event) => onChange({ end: event.currentTarget.value })}
        />
        <Select
          label={t('settings.quietHours.zone')}
          required
          searchable
          allowDeselect={false}
          limit={50}
          data={zones}
          value={hours.time_zone}
          onChange={(zone) => zone && onChange({ time_zone: zone })}
        />
      </SimpleGrid>
      <Checkbox.Group
        label={t('settings.quietHours.days')}
        value={hours.days.map(String)}
        onChange={(days) => onChange({ days: days.map(Number).sort() })}
      >
        <Group mt="xs">
          {weekdays.map((day, index) => (
            <Checkbox key={day} value={String(index + 1)} label={day} />
          ))}
        </Group>
      </Checkbox.Group>
      <Switch
        label={t('settings.quietHours.safetyPasses')}
        checked={hours.safety_passes}
        onChange={(event) => onChange({ safety_passes: event.currentTarget.checked })}
      />
    </>
  )
}
