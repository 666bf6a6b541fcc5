import { Alert, Button, Group, Stack, Tabs, Text } from '@mantine/core'
import type { Schemas } from '@wheelhouse/sdk'
import { type ReactNode, useEffect, useRef } from 'react'
import { encode } from 'uqr'
import { CopyableSecret } from '../base/copyable.tsx'
import { clockText } from '../base/format.ts'
import { Problem } from '../base/states.tsx'
import { useNow } from '../base/time.tsx'
import { useWrite } from '../platform/rest.ts'
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
      <WayTabs
        ways={[
          [
            'simulated',
            t('robots.connect.simulated'),
            <>
              <Text size="sm">{t('robots.connect.simulatedNote')}</Text>
              <CopyableSecret label={t('robots.connect.install')} value={installSdk(origin)} />
              <Text size="sm">{t('robots.connect.saveFile')}</Text>
              <CopyableSecret label={simulatedRobotFile} value={simulatedRobot(access)} />
              <CopyableSecret label={t('robots.connect.start')} value={startSimulatedRobot} />
            </>,
          ],
          [
            'real',
            t('robots.connect.real'),
            <>
              <Text size="sm">{t('robots.connect.realNote')}</Text>
              <CopyableSecret label={realRobotFile} value={realRobot(access)} />
            </>,
          ],
          [
            'python',
            t('robots.connect.python'),
            <>
              <Text size="sm">{t('robots.connect.pythonNote')}</Text>
              <CopyableSecret label={t('robots.connect.start')} value={pythonRobot(origin, access)} />
            </>,
          ],
        ]}
      />
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
  const create = useWrite(
    (rest) => rest.POST('/api/client/robots/{id}/pairing-code', { params: { path: { id: robot.id } } }),
    // The response contains the code. Drops it with the page.
    { gcTime: 0 },
  )
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
      <WayTabs ways={waysOf(code)} />
    </Stack>
  )
}

type Way = readonly [value: string, label: string, content: ReactNode]

const WayTabs = ({ ways }: { ways: readonly Way[] }) => (
  <Tabs defaultValue={ways[0]?.[0] ?? null} keepMounted={false}>
    <Tabs.List>
      {ways.map(([value, label]) => (
        <Tabs.Tab key={value} value={value}>
          {label}
        </Tabs.Tab>
      ))}
    </Tabs.List>
    {ways.map(([value, , content]) => (
      <Tabs.Panel key={value} value={value} pt="sm">
        <Stack>{content}</Stack>
      </Tabs.Panel>
    ))}
  </Tabs>
)

const { origin, hostname } = window.location

/** Returns what can be connected with a pairing code. A phone reads the code with its camera. */
function waysOf(code: string): readonly Way[] {
  const start = (note: string, command: string) => (
    <>
      <Text size="sm">{note}</Text>
      <CopyableSecret label={t('robots.pairing.start')} value={command} />
    </>
  )
  const url = phoneRobotUrl(origin, code)
  const phone = (
    <>
      <Text size="sm">{t('robots.pairing.phoneNote')}</Text>
      <QrCode text={url} label={t('robots.pairing.qrCode')} />
      <CopyableSecret label={t('robots.pairing.address')} value={url} />
      {LOOPBACK.test(hostname) && <Text size="sm">{t('robots.pairing.loopback')}</Text>}
    </>
  )
  return [
    ['real', t('robots.pairing.real'), start(t('robots.pairing.realNote'), exchangeCommand(origin, code))],
    ['ros', t('robots.pairing.ros'), start(t('robots.pairing.rosNote'), rosCommand(origin, code))],
    ['docker', t('robots.pairing.docker'), start(t('robots.pairing.dockerNote'), dockerCommand(origin))],
    [
      'raspberry',
      t('robots.pairing.raspberry'),
      start(t('robots.pairing.raspberryNote'), raspberryCommand(origin, code)),
    ],
    ['phone', t('robots.pairing.phone'), phone],
    [
      'simulated',
      t('robots.pairing.simulated'),
      start(t('robots.pairing.computerNote'), pairingCommand(origin)),
    ],
  ]
}
