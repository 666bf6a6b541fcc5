import {
  Button,
  Checkbox,
  Group,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  Table,
  Text,
  TextInput,
} from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import {
  filterTakes,
  type NotificationChannel,
  NotificationGroup,
  notificationGroups,
} from '@wheelhouse/protocol'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useMemo, useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DataTable } from '../base/data-table.tsx'
import { Form, FormFooter } from '../base/form.tsx'
import { viewerZone, weekdayNames } from '../base/format.ts'
import { messageOf } from '../base/message-of.ts'
import { Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'
import { loadPush, type PushDevice, type PushState, removeDevice, turnOnPush } from '../push/browser-push.ts'
import { StateLabel } from '../status/state-label.tsx'
import { LANGUAGES } from '../texts/languages.ts'
import { t } from '../texts/texts.ts'
import { useWebhooks } from '../webhooks/webhooks.tsx'
import { zoneChoices } from './profile-forms.tsx'
import { isLanguage, useProfileChange } from './use-profile-change.ts'

/** Edits notification preferences. Each switch saves immediately. */
function PreferencesForm() {
  const { notification_preferences: saved } = useMe()
  const change = useProfileChange()
  // Shows a pending change optimistically.
  const shown = { ...saved, ...(change.isPending && change.variables.notification_preferences) }
  const set = (preference: Partial<typeof saved>) => change.mutate({ notification_preferences: preference })
  return (
    <Stack>
      <Switch
        label={t('settings.preferences.email')}
        description={t('settings.preferences.emailNote')}
        checked={shown.email}
        onChange={(event) => set({ email: event.currentTarget.checked })}
      />
      <Switch
        label={t('settings.preferences.popUps')}
        description={t('settings.preferences.popUpsNote')}
        checked={shown.push}
        onChange={(event) => set({ push: event.currentTarget.checked })}
      />
      <Problem error={change.error} />
    </Stack>
  )
}

function MailLanguageForm({ saved }: { saved: NotificationSettings }) {
  const change = useSettingsChange()
  return (
    <Select
      label={t('settings.mailLanguage.label')}
      description={t('settings.mailLanguage.note')}
      data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
      value={saved.language ?? 'en'}
      onChange={(value) => value !== null && isLanguage(value) && change.mutate({ language: value })}
      disabled={change.isPending}
      error={change.error && messageOf(change.error)}
      allowDeselect={false}
    />
  )
}

/** Shows how notifications reach the user: the main switches, the browsers, the matrix, the quiet hours and the language. */
export const NotificationSection = () => (
  <>
    <PreferencesForm />
    <PushSection />
    <QueryView query={useNotificationSettings()}>
      {(settings) => (
        <>
          <NotificationMatrix saved={settings} />
          <QuietHoursForm saved={settings} />
          <MailLanguageForm saved={settings} />
        </>
      )}
    </QueryView>
  </>
)

/** Edits the channels of each group of notifications. Each checkbox saves immediately. */
function NotificationMatrix({ saved }: { saved: NotificationSettings }) {
  const change = useSettingsChange()
  const pending = change.isPending ? change.variables.matrix : undefined
  return (
    <Stack>
      <DataTable
        label={t('settings.matrix.label')}
        minWidth={480}
        columns={[
          t('settings.matrix.notification'),
          ...channels.map((it) => channelTexts[it]),
          t('settings.webhooks'),
        ]}
      >
        {NotificationGroup.options.map((group) => (
          <Table.Tr key={group}>
            <Table.Th scope="row" fw={600}>
              {groupTexts[group].label}
              <Note>{groupTexts[group].description}</Note>
            </Table.Th>
            {channels.map((channel) => (
              <Table.Td key={channel}>
                <Checkbox
                  size="md" // a target for fingers
                  aria-label={t('settings.matrix.channel', {
                    group: groupTexts[group].label,
                    channel: channelTexts[channel],
                  })}
                  // Shows a pending change optimistically.
                  checked={pending?.[group]?.[channel] ?? saved.matrix[group][channel]}
                  onChange={({ currentTarget: { checked } }) =>
                    change.mutate({ matrix: { [group]: { [channel]: checked } } })
                  }
                />
              </Table.Td>
            ))}
            <Table.Td>
              <WebhookCount group={group} />
            </Table.Td>
          </Table.Tr>
        ))}
      </DataTable>
      <Problem error={change.error} />
    </Stack>
  )
}

/** Shows how many enabled webhooks receive notifications of a group. Webhooks have filters, edited below. */
function WebhookCount({ group }: { group: NotificationGroup }) {
  const { data } = useWebhooks()
  if (!data) return '–'
  const events = Object.entries(notificationGroups).flatMap(([type, of]) =>
    of === group ? [`notification.${type}`] : [],
  )
  const receiving = data.webhooks.filter(
    ({ enabled, types }) =>
      enabled && types.some((filter) => events.some((event) => filterTakes(filter, event))),
  )
  return receiving.length === 0 ? '–' : String(receiving.length)
}

const weekdays = weekdayNames()

const proposal = (): QuietHours => ({
  start: '22:00',
  end: '07:00',
  time_zone: viewerZone(),
  days: weekdays.map((_, index) => index + 1),
  safety_passes: true,
})

function QuietHoursForm({ saved }: { saved: NotificationSettings }) {
  const [enabled, setEnabled] = useState(saved.quiet_hours !== null)
  const [hours, setHours] = useState(saved.quiet_hours ?? proposal)
  const change = useSettingsChange()
  return (
    <Form
      onSubmit={() => change.mutate({ quiet_hours: enabled ? hours : null })}
      aria-label={t('settings.quietHours.title')}
    >
      <Switch
        label={t('settings.quietHours.title')}
        description={t('settings.quietHours.note')}
        checked={enabled}
        onChange={(event) => setEnabled(event.currentTarget.checked)}
      />
      {enabled && <Fields hours={hours} onChange={(part) => setHours({ ...hours, ...part })} />}
      <FormFooter change={change} />
    </Form>
  )
}

function Fields({ hours, onChange }: { hours: QuietHours; onChange: (part: Partial<QuietHours>) => void }) {
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

type NotificationSettings = Schemas['NotificationSettings']
type QuietHours = Schemas['QuietHours']

/** The label and the explanation of each group of notifications. */
const groupTexts: Readonly<Record<NotificationGroup, { label: string; description: string }>> = {
  stops: {
    label: t('settings.groups.stops.label'),
    description: t('settings.groups.stops.description'),
  },
  robot_lost: {
    label: t('settings.groups.robotLost.label'),
    description: t('settings.groups.robotLost.description'),
  },
  pauses: {
    label: t('settings.groups.pauses.label'),
    description: t('settings.groups.pauses.description'),
  },
  sessions: {
    label: t('settings.groups.sessions.label'),
    description: t('settings.groups.sessions.description'),
  },
  extensions: {
    label: t('settings.groups.extensions.label'),
    description: t('settings.groups.extensions.description'),
  },
  battery: {
    label: t('settings.groups.battery.label'),
    description: t('settings.groups.battery.description'),
  },
  account: {
    label: t('settings.groups.account.label'),
    description: t('settings.groups.account.description'),
  },
  money: {
    label: t('settings.groups.money.label'),
    description: t('settings.groups.money.description'),
  },
  exports: {
    label: t('settings.groups.exports.label'),
    description: t('settings.groups.exports.description'),
  },
  webhooks: {
    label: t('settings.groups.webhooks.label'),
    description: t('settings.groups.webhooks.description'),
  },
}

/** The channels that the console offers. */
const channels = ['in_app', 'mail', 'push'] as const satisfies readonly NotificationChannel[]

const channelTexts: Readonly<Record<(typeof channels)[number], string>> = {
  in_app: t('settings.channels.popUp'),
  mail: t('settings.channels.email'),
  push: t('settings.channels.browser'),
}

function useNotificationSettings() {
  return useRead(keys.notificationSettings, (rest) => rest.GET('/api/notifications/settings'))
}

function useSettingsChange() {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: Schemas['ChangeNotificationSettings']) =>
      answerOf(rest.PATCH('/api/notifications/settings', { body })),
    onSuccess: (settings) => queries.setQueryData(keys.notificationSettings, settings),
  })
}

function usePush() {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries({ queryKey: keys.push })
  const query = useQuery({ queryKey: keys.push, queryFn: () => loadPush(rest) })
  const turnOn = useMutation({ mutationFn: () => turnOnPush(rest), onSettled: refresh })
  const remove = useMutation({
    mutationFn: (device: PushDevice) => removeDevice(rest, device),
    onSettled: refresh,
  })
  return { query, turnOn, remove }
}

const stateTexts: Readonly<Record<PushState, string>> = {
  insecure: t('settings.push.insecure'),
  unsupported: t('settings.push.unsupported'),
  denied: t('settings.push.denied'),
  off: t('settings.push.off'),
  on: t('settings.push.on'),
}

/** Turns notifications of this browser on and off, and lists the devices of the user that receive them. */
export function PushSection() {
  const { query, turnOn, remove } = usePush()
  return (
    <QueryView query={query}>
      {({ devices, state, own }) => (
        <Stack gap="sm">
          <Group justify="space-between">
            <Stack gap={0} flex="1 1 240px">
              <Text fw={600}>{t('settings.push.title')}</Text>
              <Note>{stateTexts[state]}</Note>
            </Stack>
            {state === 'off' && (
              <Button variant="default" loading={turnOn.isPending} onClick={() => turnOn.mutate()}>
                {t('settings.push.turnOn')}
              </Button>
            )}
            {own && (
              <Button variant="default" loading={remove.isPending} onClick={() => remove.mutate(own)}>
                {t('settings.push.turnOff')}
              </Button>
            )}
          </Group>
          <Problem error={turnOn.error ?? remove.error} />
          {devices.length > 0 && (
            <Devices devices={devices} own={own} onRemove={(device) => remove.mutateAsync(device)} />
          )}
        </Stack>
      )}
    </QueryView>
  )
}

interface DevicesProps {
  readonly devices: readonly PushDevice[]
  readonly own: PushDevice | undefined
  readonly onRemove: (device: PushDevice) => Promise<unknown>
}

const Devices = ({ devices, own, onRemove }: DevicesProps) => (
  <DataTable
    label={t('settings.push.devices')}
    minWidth={480}
    columns={[
      t('settings.push.device'),
      t('settings.push.added'),
      t('settings.push.lastDelivery'),
      t('settings.push.action'),
    ]}
  >
    {devices.map((device) => (
      <Table.Tr key={device.id}>
        <Table.Td>
          {device.label}
          {device.id === own?.id && <StateLabel shape="off">{t('settings.push.thisBrowser')}</StateLabel>}
        </Table.Td>
        <Table.Td>
          <Time at={device.created_at} />
        </Table.Td>
        <Table.Td>
          {device.last_success_at ? <Time at={device.last_success_at} /> : t('settings.push.never')}
        </Table.Td>
        <Table.Td>
          <ConfirmButton
            variant="default"
            size="xs"
            question={t('settings.push.removeQuestion', { device: device.label })}
            consequence={t('settings.push.removeConsequence')}
            confirmLabel={t('settings.push.remove')}
            onConfirm={() => onRemove(device)}
            aria-label={t('settings.push.removeLabel', { device: device.label })}
          />
        </Table.Td>
      </Table.Tr>
    ))}
  </DataTable>
)
