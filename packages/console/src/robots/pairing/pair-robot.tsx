import { Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useEffect, useRef } from 'react'
import { usePlatform } from '../../app/platform.ts'
import { clockText } from '../../ui/format.ts'
import { CopyableSecret } from '../../ui/secret.tsx'
import { Problem } from '../../ui/states.tsx'
import { useNow } from '../../ui/use-now.ts'
import { ConnectionStatus } from '../connection-status.tsx'
import { pairingCommand, phoneRobotUrl } from '../snippets.ts'
import type { Robot } from '../use-robots.ts'
import { QrCode } from './qr-code.tsx'

type PairingCode = Schemas['PairingCode']

/** Names of this machine, which a phone cannot reach. */
const LOOPBACK = /^(localhost|127\.|\[::1\])/

/** Creates a pairing code, and shows how a computer and a phone connect with it. */
export function PairRobot({ robot }: { robot: Robot }) {
  const { rest } = usePlatform()
  const create = useMutation({
    mutationFn: () =>
      answerOf(rest.POST('/api/client/robots/{id}/pairing-code', { params: { path: { id: robot.id } } })),
    // The response contains the code. Drops it with the page.
    gcTime: 0,
  })
  return (
    <Stack>
      <Text c="dimmed" maw={640}>
        A pairing code connects a simulated robot on any computer, or your phone as a robot, without an
        installation and without copying the token.
      </Text>
      {create.data && <CodeInstructions code={create.data} />}
      <Problem error={create.error} />
      <Group>
        <Button
          variant={create.data ? 'default' : 'filled'}
          loading={create.isPending}
          onClick={() => create.mutate()}
        >
          {create.data ? 'Create another code' : 'Create pairing code'}
        </Button>
      </Group>
      {create.data && <ConnectionStatus robot={robot} />}
    </Stack>
  )
}

function CodeInstructions({ code: { code, expires_at } }: { code: PairingCode }) {
  const secondsLeft = (Date.parse(expires_at) - useNow()) / 1_000
  const host = useRef<HTMLDivElement>(null)
  // Moves the focus to the new code, so that screen readers read it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another code is read again
  useEffect(() => host.current?.focus(), [code])
  if (secondsLeft <= 0) return <Text role="status">The code has expired. Create another one.</Text>
  return (
    <Stack>
      <div ref={host} tabIndex={-1}>
        <CopyableSecret label="Pairing code" value={code} />
      </div>
      <Text size="sm">Works once, for another {clockText(secondsLeft)}.</Text>
      <Tabs defaultValue="computer" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="computer">Computer</Tabs.Tab>
          <Tabs.Tab value="phone">Phone</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="computer" pt="sm">
          <Stack>
            <Text size="sm">
              Requires Node 22 or newer. The program asks for the code, and stores the token in its folder for
              the next start.
            </Text>
            <CopyableSecret label="Start a simulated robot" value={pairingCommand(window.location.origin)} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="phone" pt="sm">
          <PhonePairing code={code} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  )
}

function PhonePairing({ code }: { code: string }) {
  const url = phoneRobotUrl(window.location.origin, code)
  return (
    <Stack>
      <Text size="sm">
        Scan the code with your phone: its browser becomes a simulated robot that reports the charge of the
        phone. Keep the page open.
      </Text>
      <QrCode text={url} label="QR code with the address for your phone" />
      <CopyableSecret label="Address" value={url} />
      {LOOPBACK.test(window.location.hostname) && (
        <Text size="sm">
          This address is valid on this machine only. A phone needs a platform with a public address.
        </Text>
      )}
    </Stack>
  )
}
