import { Checkbox, Stack, Table, Text } from '@mantine/core'
import { filterTakes, NotificationChannel, NotificationGroup, notificationGroups } from '@wheelhouse/protocol'
import { DataTable } from '../ui/data-table.tsx'
import { Problem } from '../ui/states.tsx'
import { useWebhooks } from '../webhooks/queries.ts'
import {
  channelTexts,
  groupTexts,
  type NotificationSettings,
  useSettingsChange,
} from './notification-settings.ts'

/** Edits the channels of each group of notifications. Each checkbox saves immediately. */
export function NotificationMatrix({ saved }: { saved: NotificationSettings }) {
  const change = useSettingsChange()
  const pending = change.isPending ? change.variables.matrix : undefined
  return (
    <Stack>
      <DataTable
        label="Channels of notifications"
        minWidth={480}
        columns={['Notification', ...NotificationChannel.options.map((it) => channelTexts[it]), 'Webhooks']}
      >
        {NotificationGroup.options.map((group) => (
          <Table.Tr key={group}>
            <Table.Th scope="row" fw={600}>
              {groupTexts[group].label}
              <Text size="sm" c="dimmed">
                {groupTexts[group].description}
              </Text>
            </Table.Th>
            {NotificationChannel.options.map((channel) => (
              <Table.Td key={channel}>
                <Checkbox
                  aria-label={`${groupTexts[group].label}: ${channelTexts[channel]}`}
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
