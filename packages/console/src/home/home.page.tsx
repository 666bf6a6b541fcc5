import { Stack } from '@mantine/core'
import { lazy, Suspense } from 'react'
import { Page } from '../base/page.tsx'
import { Loading } from '../base/states.tsx'
import { useMe } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'

// The first view loads the parts of the user's roles only.
const AdminHome = lazy(() => import('./admin-home.tsx'))
const OperatorHome = lazy(() => import('./operator-home.tsx'))
const OwnerHome = lazy(() => import('./owner-home.tsx'))

/** Shows what needs the user's attention now, for each of their roles. */
export function HomePage() {
  const { display_name, roles } = useMe()
  return (
    <Page title={t('home.page.title', { name: display_name })}>
      <Suspense fallback={<Loading />}>
        <Stack gap="lg">
          {roles.includes('admin') && <AdminHome />}
          {roles.includes('operator') && <OperatorHome />}
          {roles.includes('client') && <OwnerHome />}
        </Stack>
      </Suspense>
    </Page>
  )
}
