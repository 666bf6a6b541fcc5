import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useEffect, useRef } from 'react'
import { encode } from 'uqr'
import { clockText } from '../base/format.ts'
import { CopyableSecret } from '../base/secret.tsx'
import { Problem } from '../base/states.tsx'
import { useNow } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
import { ConnectionStatus } from './robot-status.tsx'
import {
  installSdk,
  pairingCommand,
  phoneRobotUrl,
  pythonRobot,
  type RobotAccess,
  realRobot,
  realRobotFile,
  simulatedRobot,
  simulatedRobotFile,
  startSimulatedRobot,
} from './snippets.ts'
import type { Robot } from './use-robots.ts'

/** Shows a new robot token once, code to connect the robot, and the connection status. */
export function ConnectRobot({ robot, token }: { robot: Robot; token: string }) {
  const access: RobotAccess = { control_url: robot.control_url, robot_token: token }
  const notice = useRef<HTMLDivElement>(null)
  // Moves the focus to the notice, so that screen readers read it first.
  useEffect(() => notice.current?.focus(), [])
  return (
    <Stack>
      <Alert
        variant="default"
        title={t('robots.connect.saveToken')}
        ref={notice}
        tabIndex={-1}
        style={{ scrollMarginTop: 140 }}
      >
        {t('robots.connect.saveTokenNote')}
      </Alert>
      <CopyableSecret label={t('robots.connect.token')} value={token} />
      <CopyableSecret label={t('robots.connect.controlUrl')} value={robot.control_url} />
      <Text fw={600}>{t('robots.connect.title')}</Text>
      <Tabs defaultValue="simulated" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="simulated">{t('robots.connect.simulated')}</Tabs.Tab>
          <Tabs.Tab value="real">{t('robots.connect.real')}</Tabs.Tab>
          <Tabs.Tab value="python">{t('robots.connect.python')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="simulated" pt="sm">
          <Stack>
            <Text size="sm">{t('robots.connect.simulatedNote')}</Text>
            <CopyableSecret label={t('robots.connect.install')} value={installSdk(window.location.origin)} />
            <Text size="sm">{t('robots.connect.saveFile')}</Text>
            <CopyableSecret label={simulatedRobotFile} value={simulatedRobot(access)} />
            <CopyableSecret label={t('robots.connect.start')} value={startSimulatedRobot} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="real" pt="sm">
          <Stack>
            <Text size="sm">{t('robots.connect.realNote')}</Text>
            <CopyableSecret label={realRobotFile} value={realRobot(access)} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="python" pt="sm">
          <Stack>
            <Text size="sm">{t('robots.connect.pythonNote')}</Text>
            <CopyableSecret
              label={t('robots.connect.start')}
              value={pythonRobot(window.location.origin, access)}
            />
          </Stack>
        </Tabs.Panel>
      </Tabs>
      <ConnectionStatus robot={robot} />
    </Stack>
  )
}

/** The quiet zone that readers need around the code, in modules. */
const BORDER = 4

/** Draws a QR code, dark on white in both colour schemes, because some readers need it. */
function QrCode({ text, label }: { text: string; label: string }) {
  const { data } = encode(text, { border: BORDER, ecc: 'M' })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${data.length} ${data.length}`}
      shapeRendering="crispEdges"
      style={{ width: '100%', maxWidth: 240, background: '#fff' }}
    >
      <path d={path} fill="#000" />
    </svg>
  )
}

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
        {t('robots.pairing.note')}
      </Text>
      {create.data && <CodeInstructions code={create.data} />}
      <Problem error={create.error} />
      <Group>
        <Button
          variant={create.data ? 'default' : 'filled'}
          loading={create.isPending}
          onClick={() => create.mutate()}
        >
          {t(create.data ? 'robots.pairing.createAnother' : 'robots.pairing.create')}
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
  if (secondsLeft <= 0) return <Text role="status">{t('robots.pairing.expired')}</Text>
  return (
    <Stack>
      <div ref={host} tabIndex={-1}>
        <CopyableSecret label={t('robots.pairing.code')} value={code} />
      </div>
      <Text size="sm">{t('robots.pairing.validity', { time: clockText(secondsLeft) })}</Text>
      <Tabs defaultValue="computer" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="computer">{t('robots.pairing.computer')}</Tabs.Tab>
          <Tabs.Tab value="phone">{t('robots.pairing.phone')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="computer" pt="sm">
          <Stack>
            <Text size="sm">{t('robots.pairing.computerNote')}</Text>
            <CopyableSecret
              label={t('robots.pairing.start')}
              value={pairingCommand(window.location.origin)}
            />
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
      <Text size="sm">{t('robots.pairing.phoneNote')}</Text>
      <QrCode text={url} label={t('robots.pairing.qrCode')} />
      <CopyableSecret label={t('robots.pairing.address')} value={url} />
      {LOOPBACK.test(window.location.hostname) && <Text size="sm">{t('robots.pairing.loopback')}</Text>}
    </Stack>
  )
}
