import type { ComponentProps, ReactNode } from 'react'
import { useMe } from '../platform/platform.ts'
import { t } from '../texts/texts.ts'
import { LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'

/** Renders a page for admins. Other users see a notice, and the page sends no request. */
export function AdminPage({ children, ...page }: Omit<ComponentProps<typeof Page>, 'actions'>) {
  const { roles } = useMe()
  if (!roles.includes('admin')) return <AdminsOnly title={page.title} />
  return <Page {...page}>{children}</Page>
}

const AdminsOnly = ({ title }: { title: string }): ReactNode => (
  <Page title={title}>
    <Empty title={t('admin.access.title')} action={<LinkButton to="/">{t('admin.access.home')}</LinkButton>}>
      {t('admin.access.text')}
    </Empty>
  </Page>
)
