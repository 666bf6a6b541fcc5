import { Anchor, Stack } from '@mantine/core'
import { t } from '../../texts/texts.ts'
import { DescriptionItem, DescriptionList } from '../../ui/data-table.tsx'
import { webAddress } from '../../ui/links.tsx'
import { Section } from '../../ui/section.tsx'
import { Time } from '../../ui/time.tsx'
import { PairRobot } from '../pairing/pair-robot.tsx'
import { RobotToken } from '../robot-token.tsx'
import type { RobotDetail } from '../use-robots.ts'

/** Shows how a robot connects: addresses and token. */
export const ConnectTab = ({ robot }: { robot: RobotDetail }) => (
  <Stack>
    <Section title={t('robots.connect.oneLine')}>
      <PairRobot robot={robot} />
    </Section>
    <Section title={t('robots.connect.connection')}>
      <DescriptionList cols={{ base: 1, xs: 2 }}>
        <DescriptionItem label={t('robots.connect.controlUrl')}>{robot.control_url}</DescriptionItem>
        <DescriptionItem label={t('robots.connect.video')}>
          <Video url={robot.stream_url} />
        </DescriptionItem>
        <DescriptionItem label={t('robots.connect.hardwareId')}>{robot.hardware_id}</DescriptionItem>
        <DescriptionItem label={t('robots.connect.registered')}>
          <Time at={robot.created_at} exact />
        </DescriptionItem>
      </DescriptionList>
    </Section>
    <Section title={t('robots.connect.token')}>
      <RobotToken robot={robot} />
    </Section>
  </Stack>
)

function Video({ url }: { url: string }) {
  if (url === '') return t('robots.connect.noVideo')
  const address = webAddress(url)
  if (!address) return url
  return (
    <Anchor href={address} target="_blank" rel="noopener noreferrer" inherit>
      {url}
    </Anchor>
  )
}
