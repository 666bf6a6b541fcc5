import { Stack } from '@mantine/core'
import { t } from '../texts/texts.ts'
import { LinkAnchor } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { AvailabilityLine } from './availability-line.tsx'
import { AvailableRobots } from './available-robots.tsx'
import { OpenSession } from './open-session.tsx'

/** Shows the operator's open session, availability and the available robots. */
export function AvailablePage() {
  return (
    <Page title={t('operator.available.title')} description={t('operator.available.description')}>
      <Stack>
        <OpenSession />
        <AvailabilityLine>
          <LinkAnchor to="/schedule" underline="always">
            {t('operator.available.viewSchedule')}
          </LinkAnchor>
        </AvailabilityLine>
        <AvailableRobots />
      </Stack>
    </Page>
  )
}
