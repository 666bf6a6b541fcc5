import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { useEffect, useRef } from 'react'
import { encode } from 'uqr'
import { CopyableSecret } from '../base/copyable.tsx'
import { clockText } from '../base/format.ts'
import { Problem } from '../base/states.tsx'
import { useNow } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
import { ConnectionStatus } from './robot-status.tsx'
import {
  dockerCommand,
  exchangeCommand,
  installSdk,
  pairingCommand,
  phoneRobotUrl,
  pythonRobot,
  type RobotAccess,
  raspberryCommand,
  realRobot,
  realRobotFile,
  rosCommand,
  simulatedRobot,
  simulatedRobotFile,
  startSimulatedRobot,
} from './snippets.ts'
import type { Robot } from './use-robots.ts'

/**
 * Shows a new robot token once, code to connect the robot, and the connection status.
 * @param props.isSecond whether a pairing code above it has the focus and the status
 */
export function ConnectRobot(props: { robot: Robot; token: string; isSecond?: boolean }) {
  const { robot, token, isSecond = false } = props
  const access: RobotAccess = { control_url: robot.control_url, robot_token: token }
  const notice = useRef<HTMLDivElement>(null)
  // Moves the focus to the notice, so that screen readers read it first.
  useEffect(() => {
    if (!isSecond) notice.current?.focus()
  }, [isSecond])
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
      {!isSecond && <ConnectionStatus robot={robot} />}
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

/**
 * Creates a pairing code, and shows how robots, computers and phones connect with it.
 * @param props.isNew whether the robot was just registered, so that the code is created at once
 */
export function PairRobot({ robot, isNew = false }: { robot: Robot; isNew?: boolean }) {
  const { rest } = usePlatform()
  const create = useMutation({
    mutationFn: () =>
      answerOf(rest.POST('/api/client/robots/{id}/pairing-code', { params: { path: { id: robot.id } } })),
    // The response contains the code. Drops it with the page.
    gcTime: 0,
  })
  const { mutate } = create
  useEffect(() => {
    if (isNew) mutate()
  }, [isNew, mutate])
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
      <Tabs defaultValue="real" keepMounted={false}>
        <Tabs.List>
          {ways.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {ways.map(({ value, note, command }) => (
          <Tabs.Panel key={value} value={value} pt="sm">
            {command ? (
              <Stack>
                <Text size="sm">{note}</Text>
                <CopyableSecret
                  label={t('robots.pairing.start')}
                  value={command(window.location.origin, code)}
                />
              </Stack>
            ) : (
              <PhonePairing code={code} />
            )}
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  )
}

interface Way {
  readonly value: string
  readonly label: string
  readonly note: string
  /** Returns what to copy; missing for a phone, which reads the code with its camera. */
  readonly command?: (origin: string, code: string) => string
}

/** What can be connected with a pairing code. */
const ways: readonly Way[] = [
  {
    value: 'real',
    label: t('robots.pairing.real'),
    note: t('robots.pairing.realNote'),
    command: exchangeCommand,
  },
  { value: 'ros', label: t('robots.pairing.ros'), note: t('robots.pairing.rosNote'), command: rosCommand },
  {
    value: 'docker',
    label: t('robots.pairing.docker'),
    note: t('robots.pairing.dockerNote'),
    command: dockerCommand,
  },
  {
    value: 'raspberry',
    label: t('robots.pairing.raspberry'),
    note: t('robots.pairing.raspberryNote'),
    command: raspberryCommand,
  },
  { value: 'phone', label: t('robots.pairing.phone'), note: '' },
  {
    value: 'simulated',
    label: t('robots.pairing.simulated'),
    note: t('robots.pairing.computerNote'),
    command: pairingCommand,
  },
]

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
