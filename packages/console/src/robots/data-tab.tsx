import { Group, Stack } from '@mantine/core'
import type { Schemas } from '@wheelhouse/sdk'
import { DescriptionList, RowTable, type TableColumn } from '../base/data-table.tsx'
import { dataSize } from '../base/format.ts'
import { LinkButton } from '../base/links.tsx'
import { Section } from '../base/section.tsx'
import { Empty, Note, QueryView } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useDatasets } from '../data/use-datasets.ts'
import { RobotGrants } from '../organization/data-grants.tsx'
import { useMay } from '../platform/organization.ts'
import { byId, useRead } from '../platform/rest.ts'
import { language, t } from '../texts/texts.ts'
import { type RobotDetail, robotKey } from './use-robots.ts'

/** Shows the episodes of a robot, what the platform collects about it, and who else may read that. */
export function DataTab({ robot }: { robot: RobotDetail }) {
  const may = useMay()
  return (
    <Stack>
      <Episodes robot={robot} />
      <Section title={t('robots.catalogue.title')}>
        <Catalogue robotId={robot.id} />
      </Section>
      {may('grants.manage') && (
        <Section title={t('organization.grants.title')}>
          <RobotGrants robotId={robot.id} />
        </Section>
      )}
    </Stack>
  )
}

function Episodes({ robot }: { robot: RobotDetail }) {
  const query = useDatasets()
  return (
    <Section title={t('robots.data.title')}>
      <QueryView query={query}>
        {({ datasets }) => {
          const own = datasets.filter(({ robot_id }) => robot_id === robot.id)
          if (own.length === 0) return <Empty title={t('robots.data.emptyTitle')} />
          return own.map((dataset) => (
            <div key={dataset.id}>
              <DescriptionList
                cols={{ base: 1, xs: 3 }}
                items={{
                  [t('robots.data.episodes')]: dataset.episode_count.toLocaleString(language),
                  [t('robots.data.size')]: dataSize(dataset.size_mb),
                  [t('robots.data.lastAdded')]: <Time at={dataset.updated_at} />,
                }}
              />
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

type Entry = Schemas['RobotDataEntry']

const kinds: Readonly<Record<Entry['kind'], string>> = {
  telemetry: t('robots.catalogue.telemetry'),
  control: t('robots.catalogue.control'),
  video: t('robots.catalogue.video'),
  log: t('robots.catalogue.log'),
  health: t('robots.catalogue.health'),
  sessions: t('robots.catalogue.sessions'),
  recordings: t('robots.catalogue.recordings'),
  episodes: t('robots.catalogue.episodes'),
  audit: t('robots.catalogue.audit'),
}

/** Lists what the platform collects about a robot. The platform describes it, in English. */
function Catalogue({ robotId }: { robotId: string }) {
  const query = useRead([...robotKey(robotId), 'data'], (rest) =>
    rest.GET('/api/client/robots/{id}/data', byId(robotId)),
  )
  return (
    <>
      <Note maw={640}>{t('robots.catalogue.note')}</Note>
      <QueryView query={query}>
        {({ data }) => (
          <RowTable
            label={t('robots.catalogue.title')}
            minWidth={980}
            verticalSpacing="xs"
            columns={columns}
            rows={data}
            keyOf={({ kind }) => kind}
            rowProps={() => ({ style: { verticalAlign: 'top' } })}
          />
        )}
      </QueryView>
    </>
  )
}

const english = { lang: 'en' }
const columns: readonly TableColumn<Entry>[] = [
  [t('robots.catalogue.kind'), ({ kind }) => kinds[kind], { fw: 600 }],
  [t('robots.catalogue.contents'), ({ contents }) => contents, english],
  [t('robots.catalogue.rate'), ({ rate }) => rate, english],
  [t('robots.catalogue.format'), ({ format }) => format, english],
  [t('robots.catalogue.retention'), ({ retention }) => retention, english],
  [t('robots.catalogue.visibleTo'), ({ visible_to }) => visible_to, english],
]
