import { Page } from '../ui/page.tsx'

export const StatisticsPage = () => <Page title="Statistics">{null}</Page>
