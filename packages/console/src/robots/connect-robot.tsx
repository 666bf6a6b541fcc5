import { Alert, Group, Loader, Stack, Tabs, Text } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { CopyableSecret } from '../ui/secret.tsx'
import { HeartbeatAge, RobotStatusBadge } from './robot-status.tsx'
import { installSdk, pythonRobot, type RobotAccess, realRobot, simulatedRobot } from './snippets.ts'
import { type Robot, useLiveRobots, useRobot } from './use-robots.ts'

/** A robot's token, this once, ways to connect with it, and whether somebody has. */
export function ConnectRobot({ robot, token }: { robot: Robot; token: string }) {
  const access: RobotAccess = { control_url: robot.control_url, robot_token: token }
  const notice = useRef<HTMLDivElement>(null)
  // Above what is now on the screen, and the first thing to be read.
  useEffect(() => notice.current?.focus(), [])
  return (
    <Stack>
      <Alert
        variant="default"
        title="Keep the token now"
        ref={notice}
        tabIndex={-1}
        style={{ scrollMarginTop: 140 }}
      >
        It is not shown again once you leave this page. Whoever has it can connect as this robot. If it is
        lost, make a new one on the robot’s page.
      </Alert>
      <CopyableSecret label="Token" value={token} />
      <CopyableSecret label="Control URL" value={robot.control_url} />
      <Text fw={600}>Connect it</Text>
      <Tabs defaultValue="simulated" keepMounted={false}>
        <Tabs.List>
          <Tabs.Tab value="simulated">Simulated</Tabs.Tab>
          <Tabs.Tab value="real">Real robot</Tabs.Tab>
          <Tabs.Tab value="python">Python</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="simulated" pt="sm">
          <Stack>
            <Text size="sm">
              A simulated robot in a small room. It needs Node 22.18 or newer. In the folder of a checkout of
              Wheelhouse, leave out the installation and write npx node in place of node.
            </Text>
            <CopyableSecret label="Install the SDK" value={installSdk(window.location.origin)} />
            <Text size="sm">Save this in the same folder as my-robot.ts:</Text>
            <CopyableSecret label="my-robot.ts" value={simulatedRobot(access)} />
            <CopyableSecret label="Start it" value="node my-robot.ts" />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="real" pt="sm">
          <Stack>
            <Text size="sm">
              The frame of a program for your own robot, with motors of yours. The link reconnects by itself,
              obeys nothing that is late, and stops the robot when it is lost. Install the SDK as for a
              simulated robot.
            </Text>
            <CopyableSecret label="robot.ts" value={realRobot(access)} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="python" pt="sm">
          <Stack>
            <Text size="sm">
              A whole robot in one file, to copy and to change. It needs Python 3.9 or newer and the package
              websockets; start it in the folder of a checkout:
            </Text>
            <CopyableSecret label="Start it" value={pythonRobot(access)} />
          </Stack>
        </Tabs.Panel>
      </Tabs>
      <Arrival robot={robot} />
    </Stack>
  )
}

/** Waits for the robot before the owner's eyes. */
function Arrival({ robot }: { robot: Robot }) {
  const withLiveStatus = useLiveRobots()
  const { status, last_heartbeat } = withLiveStatus(useRobot(robot.id).data ?? robot)
  const online = status !== 'OFFLINE'
  return (
    <Group component="section" aria-label="Connection of the robot" mih={40}>
      <Group role="status" gap="xs">
        {online ? <RobotStatusBadge status={status} /> : <Loader size="sm" aria-hidden />}
        <Text>{online ? `${robot.name} is connected` : `Waiting for ${robot.name} to connect …`}</Text>
      </Group>
      {last_heartbeat && (
        <Text c="dimmed" size="sm">
          Last heartbeat <HeartbeatAge at={last_heartbeat} />
        </Text>
      )}
    </Group>
  )
}
