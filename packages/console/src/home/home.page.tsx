import { Stack } from '@mantine/core'
import { Navigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Loading } from '../base/states.tsx'
import { useMay, useOrganizations } from '../platform/organization.ts'
import { useMe } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'

// The first view loads the parts of the user's roles only.
const AdminHome = lazy(() => import('./admin-home.tsx'))
const OperatorHome = lazy(() => import('./operator-home.tsx'))
const OwnerHome = lazy(() => import('./owner-home.tsx'))
const OwnerSentence = lazy(async () => ({ default: (await import('./owner-home.tsx')).OwnerSentence }))

/** Shows what needs the user's attention now, for each of their roles. */
export function HomePage() {
  const { display_name, roles } = useMe()
  const { isTeam } = useOrganizations()
  const may = useMay()
  const isOwner = roles.includes('client')
  if (isTeam && !may('robots.read')) return <Navigate to="/invoices" replace />
  return (
    <Page
      title={greeting(new Date().getHours(), display_name)}
      description={<Suspense fallback=" ">{isOwner && <OwnerSentence />}</Suspense>}
      actions={
        isOwner && (
          <LinkButton to="/live" variant="default">
            {t('home.page.wall')}
          </LinkButton>
        )
      }
    >
      <Suspense fallback={<Loading />}>
        <Stack gap="lg">
          {roles.includes('admin') && <AdminHome />}
          {/* The overview of an operator is about the work for others. */}
          {!isTeam && roles.includes('operator') && <OperatorHome />}
          {isOwner && <OwnerHome />}
        </Stack>
      </Suspense>
    </Page>
  )
}

function greeting(hour: number, name: string): string {
  if (hour >= 5 && hour < 12) return t('home.page.morning', { name })
  return hour >= 12 && hour < 18 ? t('home.page.afternoon', { name }) : t('home.page.evening', { name })
}
