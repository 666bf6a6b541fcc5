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
import type { Schemas } from '@wheelhouse/sdk'
import { useState } from 'react'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DataTable, RowTable, type TableColumn } from '../base/data-table.tsx'
import { Form, FormFooter } from '../base/form.tsx'
import { viewerZone, weekdayNames } from '../base/format.ts'
import { messageOf } from '../base/message-of.ts'
import { Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { ZoneSelect } from '../base/zone-select.tsx'
import { useMe, usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useRead, useWrite } from '../platform/rest.ts'
import { loadPush, type PushDevice, type PushState, removeDevice, turnOnPush } from '../push/browser-push.ts'
import { StateLabel } from '../status/state-label.tsx'
import { isLanguage, LANGUAGES } from '../texts/languages.ts'
import { t } from '../texts/texts.ts'
import { useWebhooks } from '../webhooks/webhooks.tsx'
import { useProfileChange } from './use-profile-change.ts'

const preferences = [
  ['email', t('settings.preferences.email'), t('settings.preferences.emailNote')],
  ['push', t('settings.preferences.popUps'), t('settings.preferences.popUpsNote')],
] as const

/** Edits notification preferences. Each switch saves immediately. */
function PreferencesForm() {
  const { notification_preferences: saved } = useMe()
  const change = useProfileChange()
  // Shows a pending change optimistically.
  const shown = { ...saved, ...(change.isPending && change.variables.notification_preferences) }
  return (
    <Stack>
      {preferences.map(([name, label, description]) => (
        <Switch
          key={name}
          label={label}
          description={description}
          checked={shown[name]}
          onChange={(event) =>
            change.mutate({ notification_preferences: { [name]: event.currentTarget.checked } })
          }
        />
      ))}
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
      onChange={(value) => isLanguage(value) && change.mutate({ language: value })}
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
    <QueryView query={useRead(keys.notificationSettings, (rest) => rest.GET('/api/notifications/settings'))}>
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
              {groupTexts[group][0]}
              <Note>{groupTexts[group][1]}</Note>
            </Table.Th>
            {channels.map((channel) => (
              <Table.Td key={channel}>
                <Checkbox
                  size="md" // a target for fingers
                  aria-label={t('settings.matrix.channel', {
                    group: groupTexts[group][0],
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
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        {(['start', 'end'] as const).map((name) => (
          <TextInput
            key={name}
            type="time"
            label={t(name === 'start' ? 'settings.quietHours.start' : 'settings.quietHours.end')}
            required
            value={hours[name]}
            onChange={(event) => onChange({ [name]: event.currentTarget.value })}
          />
        ))}
        <ZoneSelect
          label={t('settings.quietHours.zone')}
          value={hours.time_zone}
          onChange={(time_zone) => onChange({ time_zone })}
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
const groupTexts: Readonly<Record<NotificationGroup, readonly [label: string, description: string]>> = {
  stops: [t('settings.groups.stops.label'), t('settings.groups.stops.description')],
  robot_lost: [t('settings.groups.robotLost.label'), t('settings.groups.robotLost.description')],
  pauses: [t('settings.groups.pauses.label'), t('settings.groups.pauses.description')],
  sessions: [t('settings.groups.sessions.label'), t('settings.groups.sessions.description')],
  extensions: [t('settings.groups.extensions.label'), t('settings.groups.extensions.description')],
  battery: [t('settings.groups.battery.label'), t('settings.groups.battery.description')],
  account: [t('settings.groups.account.label'), t('settings.groups.account.description')],
  money: [t('settings.groups.money.label'), t('settings.groups.money.description')],
  exports: [t('settings.groups.exports.label'), t('settings.groups.exports.description')],
  webhooks: [t('settings.groups.webhooks.label'), t('settings.groups.webhooks.description')],
}

/** The channels that the console offers. */
const channels = ['in_app', 'mail', 'push'] as const satisfies readonly NotificationChannel[]

const channelTexts: Readonly<Record<(typeof channels)[number], string>> = {
  in_app: t('settings.channels.popUp'),
  mail: t('settings.channels.email'),
  push: t('settings.channels.browser'),
}

const useSettingsChange = () =>
  useWrite(
    (rest, body: Schemas['ChangeNotificationSettings']) =>
      rest.PATCH('/api/notifications/settings', { body }),
    { stores: keys.notificationSettings },
  )

const stateTexts: Readonly<Record<PushState, string>> = {
  insecure: t('settings.push.insecure'),
  unsupported: t('settings.push.unsupported'),
  denied: t('settings.push.denied'),
  off: t('settings.push.off'),
  on: t('settings.push.on'),
}

/** Turns notifications of this browser on and off, and lists the devices of the user that receive them. */
function PushSection() {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const onSettled = () => queries.invalidateQueries({ queryKey: keys.push })
  const query = useQuery({ queryKey: keys.push, queryFn: () => loadPush(rest) })
  const turnOn = useMutation({ mutationFn: () => turnOnPush(rest), onSettled })
  const remove = useMutation({ mutationFn: (device: PushDevice) => removeDevice(rest, device), onSettled })
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
            <RowTable
              label={t('settings.push.devices')}
              minWidth={480}
              columns={devicesColumns(own, remove.mutateAsync)}
              rows={devices}
            />
          )}
        </Stack>
      )}
    </QueryView>
  )
}

const devicesColumns = (
  own: PushDevice | undefined,
  remove: (device: PushDevice) => Promise<unknown>,
): readonly TableColumn<PushDevice>[] => [
  [
    t('settings.push.device'),
    ({ id, label }) => (
      <>
        {label}
        {id === own?.id && <StateLabel shape="off">{t('settings.push.thisBrowser')}</StateLabel>}
      </>
    ),
  ],
  [t('settings.push.added'), ({ created_at }) => <Time at={created_at} />],
  [
    t('settings.push.lastDelivery'),
    ({ last_success_at: at }) => (at ? <Time at={at} /> : t('settings.push.never')),
  ],
  [
    t('settings.push.action'),
    (device) => (
      <ConfirmButton
        size="xs"
        question={t('settings.push.removeQuestion', { device: device.label })}
        consequence={t('settings.push.removeConsequence')}
        confirmLabel={t('settings.push.remove')}
        onConfirm={() => remove(device)}
        aria-label={t('settings.push.removeLabel', { device: device.label })}
      />
    ),
  ],
]
