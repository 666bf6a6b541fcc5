import { Checkbox, Stack, Table, Text } from '@mantine/core'
import { filterTakes, NotificationGroup, notificationGroups } from '@wheelhouse/protocol'
import { t } from '../texts/texts.ts'
import { DataTable } from '../ui/data-table.tsx'
import { Problem } from '../ui/states.tsx'
import { useWebhooks } from '../webhooks/queries.ts'
import {
  channels,
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
              <Text size="sm" c="dimmed">
                {groupTexts[group].description}
              </Text>
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
