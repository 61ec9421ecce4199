package experiment_test

func killed() {}
