import { hubAnswersContract } from '../../contracts/hub-answers.ts';

hubAnswersContract('SQLite', async () => ({}));
