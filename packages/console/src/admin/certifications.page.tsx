import { SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { usePlatform } from '../platform/platform.ts'
import { certificationStatusTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { Empty, QueryView } from '../ui/states.tsx'
import { AdminPage } from './admin-page.tsx'
import { CertificationCard } from './certification-card.tsx'
import { certificationsQuery, LIST_LIMIT } from './certifications-query.ts'
import { DecidedTable } from './decided-table.tsx'
import { Freshness } from './freshness.tsx'

/** Lists pending and decided certification requests. */
export const CertificationsPage = () => (
  <AdminPage
    title={t('admin.certificationRequests.title')}
    description={t('admin.certificationRequests.description')}
  >
    <PendingRequests />
    <DecidedRequests />
  </AdminPage>
)

function PendingRequests() {
  const { rest } = usePlatform()
  const query = useQuery(certificationsQuery(rest, 'PENDING'))
  return (
    <Stack component="section" aria-label={certificationStatusTexts.PENDING} gap="sm">
      <Title order={2}>{certificationStatusTexts.PENDING}</Title>
      <Freshness query={query} />
      <QueryView
        query={query}
        isEmpty={({ certifications }) => certifications.length === 0}
        empty={<Empty title={t('admin.certificationRequests.noPending')} />}
      >
        {({ certifications }) => (
          <>
            {certifications.length === LIST_LIMIT && (
              <Limit>{t('admin.certificationRequests.oldest', { limit: LIST_LIMIT })}</Limit>
            )}
            <Stack component="ul" gap="sm" m={0} p={0} style={{ listStyle: 'none' }}>
              {certifications.map((request) => (
                <li key={request.id}>
                  <CertificationCard request={request} />
                </li>
              ))}
            </Stack>
          </>
        )}
      </QueryView>
    </Stack>
  )
}

const settled = ['APPROVED', 'REJECTED', 'REVOKED'] as const
type Settled = (typeof settled)[number]
const emptyTitles: Record<Settled, string> = {
  APPROVED: t('admin.certificationRequests.noApproved'),
  REJECTED: t('admin.certificationRequests.noRejected'),
  REVOKED: t('admin.certificationRequests.noRevoked'),
}

function DecidedRequests() {
  const { rest } = usePlatform()
  const [status, setStatus] = useState<Settled>('APPROVED')
  const query = useQuery(certificationsQuery(rest, status))
  return (
    <Stack component="section" aria-label={t('admin.certificationRequests.decided')} gap="sm">
      <Title order={2}>{t('admin.certificationRequests.decided')}</Title>
      <SegmentedControl
        aria-label={t('admin.certificationRequests.decision')}
        value={status}
        onChange={setStatus}
        data={settled.map((value) => ({ value, label: certificationStatusTexts[value] }))}
        maw={320}
      />
      <QueryView
        query={query}
        isEmpty={({ certifications }) => certifications.length === 0}
        empty={<Empty title={emptyTitles[status]} />}
      >
        {({ certifications }) => (
          <>
            {certifications.length === LIST_LIMIT && (
              <Limit>{t('admin.certificationRequests.newest', { limit: LIST_LIMIT })}</Limit>
            )}
            <DecidedTable requests={certifications} />
          </>
        )}
      </QueryView>
    </Stack>
  )
}

const Limit = ({ children }: { children: string }) => (
  <Text c="dimmed" size="sm">
    {children}
  </Text>
)
