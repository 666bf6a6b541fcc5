import { Anchor, Stack } from '@mantine/core'
import { DescriptionItem, DescriptionList } from '../../ui/description-list.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { webAddress } from '../../ui/web-address.ts'
import { PairRobot } from '../pairing/pair-robot.tsx'
import { RobotToken } from '../robot-token.tsx'
import type { RobotDetail } from '../use-robots.ts'

/** Shows how a robot connects: addresses and token. */
export const ConnectTab = ({ robot }: { robot: RobotDetail }) => (
  <Stack>
    <Section title="Connect in one line">
      <PairRobot robot={robot} />
    </Section>
    <Section title="Connection">
      <DescriptionList cols={{ base: 1, xs: 2 }}>
        <DescriptionItem label="Control URL">{robot.control_url}</DescriptionItem>
        <DescriptionItem label="Video">
          <Video url={robot.stream_url} />
        </DescriptionItem>
        <DescriptionItem label="Hardware ID">{robot.hardware_id}</DescriptionItem>
        <DescriptionItem label="Registered">
          <Time at={robot.created_at} exact />
        </DescriptionItem>
      </DescriptionList>
    </Section>
    <Section title="Token">
      <RobotToken robot={robot} />
    </Section>
  </Stack>
)

function Video({ url }: { url: string }) {
  if (url === '') return 'none'
  const address = webAddress(url)
  if (!address) return url
  return (
    <Anchor href={address} target="_blank" rel="noopener noreferrer" inherit>
      {url}
    </Anchor>
  )
}
