import { Group } from '@mantine/core'
import { useDatasets } from '../../data/use-datasets.ts'
import { language, t } from '../../texts/texts.ts'
import { DescriptionItem, DescriptionList } from '../../ui/data-table.tsx'
import { dataSize } from '../../ui/format.ts'
import { LinkButton } from '../../ui/links.tsx'
import { Section } from '../../ui/section.tsx'
import { Empty, QueryView } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import type { RobotDetail } from '../use-robots.ts'

/** Shows the dataset of a robot: its episodes in numbers. */
export function DataTab({ robot }: { robot: RobotDetail }) {
  const query = useDatasets()
  return (
    <Section title={t('robots.data.title')}>
      <QueryView query={query}>
        {({ datasets }) => {
          const own = datasets.filter(({ robot_id }) => robot_id === robot.id)
          if (own.length === 0) return <Empty title={t('robots.data.emptyTitle')} />
          return own.map((dataset) => (
            <div key={dataset.id}>
              <DescriptionList cols={{ base: 1, xs: 3 }}>
                <DescriptionItem label={t('robots.data.episodes')}>
                  {dataset.episode_count.toLocaleString(language)}
                </DescriptionItem>
                <DescriptionItem label={t('robots.data.size')}>{dataSize(dataset.size_mb)}</DescriptionItem>
                <DescriptionItem label={t('robots.data.lastAdded')}>
                  <Time at={dataset.updated_at} />
                </DescriptionItem>
              </DescriptionList>
              <Group mt="md">
                <LinkButton to="/datasets/$datasetId" params={{ datasetId: dataset.id }} variant="default">
                  {t('robots.data.showEpisodes')}
                </LinkButton>
              </Group>
            </div>
          ))
        }}
      </QueryView>
    </Section>
  )
}
