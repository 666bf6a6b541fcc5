import { t } from '../texts/texts.ts'
import { LinkButton } from './links.tsx'
import { Empty } from './states.tsx'

export const NotFound = () => (
  <Empty title={t('ui.notFound.page')} action={<LinkButton to="/">{t('common.goHome')}</LinkButton>} />
)
