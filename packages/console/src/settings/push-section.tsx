import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { DataTable } from '../base/data-table.tsx'
import { Note, Problem, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { loadPush, type PushDevice, type PushState, removeDevice, turnOnPush } from '../push/browser-push.ts'
import { StateLabel } from '../status/state-label.tsx'
import { t } from '../texts/texts.ts'

/** Queries the devices that receive notifications, and turns this browser on or any device off. */
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
