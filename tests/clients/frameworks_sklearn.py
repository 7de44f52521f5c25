"""The new trainer of scikit-learn, which loses its machine."""

import frameworks
import support


class NewTrainer(frameworks.FrameworkTest):
    """As `caip init sklearn` writes it."""

    name, requirements = 'sklearn', ('scikit-learn',)

    def test_survives_the_loss_of_its_machine(self):
        self.assert_new_trainer_works('sklearn')


if __name__ == '__main__':
    support.main()
