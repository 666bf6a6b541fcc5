export { createOperators, type Operators, operatorsEndpoints } from './facade.ts'
